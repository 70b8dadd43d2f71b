/** An administrator who may log in. */
export interface AdminAccount {
  email: string
  /** Argon2id, as a PHC string */
  passwordHash: string
}

const PAIR = /^([^\s:,@]+@[^\s:,@]+):(\$argon2id\$[\w$+/=,.-]+)$/

/**
 * Reads `email:hash` pairs, comma-separated; `null` where any is not one. E-mail addresses
 * are compared in lower case.
 */
export function parseAdminAccounts(text: string): AdminAccount[] | null {
  // A hash has commas of its own (m=…,t=…,p=…), so only one before the next e-mail parts pairs.
  const pairs = text.trim().split(/\s*,\s*(?=[^\s,:$]+@[^\s,:$]+:)/)
  const accounts = pairs.map((pair) => {
    const [, email, passwordHash] = PAIR.exec(pair) ?? []
    return email && passwordHash ? { email: email.toLowerCase(), passwordHash } : null
  })
  return accounts.every((account) => account !== null) ? accounts : null
}
