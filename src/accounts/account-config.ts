import { Type } from '@sinclair/typebox'
import {
  limit,
  optional,
  type ConfigPart,
  type ConfigRule,
  type Values,
} from '../core/config/config-part.js'
import { isPublic, toPublicError } from '../core/config/core-config.js'
import { isEmail } from '../core/validation/email-address.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  ADMIN_ACCOUNTS: optional('email:hash pairs, comma-separated'),
  LOGIN_LIMIT_PER_CLIENT: limit(10, 'Failed sign-ins per client in 15 minutes'),
  LOGIN_LIMIT_PER_ACCOUNT: limit(
    50,
    'Failed sign-ins per account in an hour, from unknown clients',
  ),
  REQUIRE_SECOND_FACTOR: Type.Boolean({
    default: false,
    description: 'Require a second factor of every user',
  }),
  API_KEY_LIMIT_PER_MINUTE: limit(1200, 'Requests per API key per minute'),
}

function findDuplicateEmails(accounts: string): string[] {
  const emails = (parseAdminAccounts(accounts) ?? []).map(({ email }) => email)
  return [...new Set(emails.filter((email, index) => emails.indexOf(email) !== index))]
}

const rules: readonly ConfigRule[] = [
  [
    'ADMIN_ACCOUNTS',
    (text) => parseAdminAccounts(text) !== null,
    'must be email:hash pairs, comma-separated; npm run -s admin:hash prints one',
  ],
]

function findErrors(environment: NodeJS.ProcessEnv): string[] {
  const { ADMIN_ACCOUNTS } = environment
  if (ADMIN_ACCOUNTS === undefined) {
    return isPublic(environment) ? [toPublicError('ADMIN_ACCOUNTS')] : []
  }
  const duplicates = findDuplicateEmails(ADMIN_ACCOUNTS)
  return duplicates.length === 0
    ? []
    : [`ADMIN_ACCOUNTS must list each administrator once: ${duplicates.join(', ')}`]
}

/** Accounts, sign-in and API keys. */
export const accountConfig = { variables, rules, findErrors } satisfies ConfigPart

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
