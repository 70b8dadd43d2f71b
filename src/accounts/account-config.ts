import { Type } from '@sinclair/typebox'
import {
  limit,
  optional,
  type ConfigPart,
  type Values,
  type ConfigRule,
} from '../core/config/config-part.js'
import { isPublic, toPublicError } from '../core/config/core-config.js'
import { parseAdminAccounts } from './admin-accounts.js'

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
