import { isEmail } from '../core/validation/email-address.js'

/** An account from ADMIN_ACCOUNTS. */
export interface AdminAccount {
  email: string
  /** Argon2id, as a PHC string */
  passwordHash: string
}

const PHC_ARGON2ID = /^\$argon2id\$v=\d+\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+$/

/**
 * Parses comma-separated `email:hash` pairs; `null` if any is invalid. Emails are lower-cased.
 */
export function parseAdminAccounts(text: string): AdminAccount[] | null {
  // A hash contains commas (m=…,t=…,p=…), so pairs are split only at a comma before an email.
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
