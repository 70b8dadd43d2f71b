import { isEmail } from '../validation/email-address.js'

/** An administrator who may log in. */
export interface AdminAccount {
  email: string
  /** Argon2id, as a PHC string */
  passwordHash: string
}

const PHC_ARGON2ID = /^\$argon2id\$v=\d+\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/

/**
 * Reads `email:hash` pairs, comma-separated; `null` where any is not one. E-mail addresses
 * are compared in lower case.
 */
export function parseAdminAccounts(text: string): AdminAccount[] | null {
  // A hash has commas of its own (m=…,t=…,p=…), so only one before the next e-mail parts pairs.
  const pairs = text.trim().split(/\s*,\s*(?=[^\s,:$]+@[^\s,:$]+:)/)
  const accounts = pairs.map((pair) => {
    const colon = pair.indexOf(':')
    const [email, passwordHash] = [pair.slice(0, colon), pair.slice(colon + 1)]
    return isEmail(email) && PHC_ARGON2ID.test(passwordHash)
      ? { email: email.toLowerCase(), passwordHash }
      : null
  })
  return accounts.every((account) => account !== null) ? accounts : null
}
