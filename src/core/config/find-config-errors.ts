import { isLoopback } from '../http/client-address.js'
import { isEmail } from '../validation/email-address.js'
import { isCurrency } from '../validation/formats.js'
import { parseAdminAccounts } from './admin-accounts.js'
import { isLogoFile } from './brand-logo.js'
import { checkRules, type ConfigRule } from './config-rules.js'
import { ConfigSchema } from './config-schema.js'
import { isValidTrustProxy } from './trust-proxy.js'

const MIN_SECRET_BYTES = 32
const REQUIRED_OFF_LOOPBACK = ['SESSION_SECRET', 'ADMIN_ACCOUNTS', 'PUBLIC_BASE_URL'] as const

export const isLongSecret = (secret: string): boolean =>
  Buffer.byteLength(secret) >= MIN_SECRET_BYTES

// Stricter than the schema's conversion, which accepts 0x50 and 8e1.
const isPort = (text: string): boolean => /^\d+$/.test(text)

export function parseHttpUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.password ? url : null
}

function isOrigin(text: string): boolean {
  const url = parseHttpUrl(text)
  return url !== null && url.pathname === '/' && !url.search && !url.hash
}

const isContact = (text: string): boolean =>
  isEmail(text) || (/^(?:https:\/\/|mailto:)[\x21-\x7e]+$/.test(text) && URL.canParse(text))

function isPostgresUrl(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^postgres(?:ql)?:$/.test(url.protocol)
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const RULES: readonly ConfigRule[] = [
  ['SESSION_SECRET', isLongSecret, `must have at least ${MIN_SECRET_BYTES} bytes`],
  ['SESSION_SECRET_PREVIOUS', isLongSecret, `must have at least ${MIN_SECRET_BYTES} bytes`],
  ['PORT', isPort, 'must be a whole number'],
  ['PUBLIC_BASE_URL', isOrigin, 'must be an http or https URL without a path'],
  ['CHECKOUT_URL', (text) => parseHttpUrl(text) !== null, 'must be an http or https URL'],
  ['CHECKOUT_SECRET', isLongSecret, `must have at least ${MIN_SECRET_BYTES} bytes`],
  [
    'BRAND_LOGO',
    isLogoFile,
    'must be the path of an SVG, PNG, JPEG or WebP file of at most 200 kB',
  ],
  ['TIME_ZONE', isTimeZone, 'must be the name of a time zone, such as Europe/Lisbon'],
  ['CURRENCY', isCurrency, 'must be an ISO 4217 code in capitals, such as EUR'],
  [
    'ADMIN_ACCOUNTS',
    (text) => parseAdminAccounts(text) !== null,
    'must be email:hash pairs, comma-separated; npm run -s admin:hash prints one',
  ],
  ['SECURITY_CONTACT', isContact, 'must be an email address, or an https or mailto URL'],
  ['DATABASE_URL', isPostgresUrl, 'must be a postgres or postgresql URL'],
  [
    'REDIS_URL',
    () => false,
    'is no longer supported: remove it, and use PostgreSQL for multiple processes (DATABASE_URL)',
  ],
  [
    'TRUST_PROXY',
    isValidTrustProxy,
    'must be true, false, a number of hops, or addresses, comma-separated',
  ],
]

function findDuplicateEmails(accounts: string): string[] {
  const emails = (parseAdminAccounts(accounts) ?? []).map(({ email }) => email)
  return [...new Set(emails.filter((email, index) => emails.indexOf(email) !== index))]
}

/** Finds numbers such as 1e400, because Ajv does not check the result of its conversion. */
const findInfiniteNumbers = (environment: NodeJS.ProcessEnv): string[] =>
  Object.keys(ConfigSchema.properties)
    .filter((name) => Math.abs(Number(environment[name])) === Infinity)
    .map((name) => `${name} is too large`)

/** Finds errors that the schema cannot express, in the raw text of the variables. */
export function findConfigErrors(environment: NodeJS.ProcessEnv): string[] {
  const errors = checkRules(environment, RULES)
  const { HOST, ADMIN_ACCOUNTS = '' } = environment
  const duplicates = findDuplicateEmails(ADMIN_ACCOUNTS)
  if (duplicates.length > 0) {
    errors.push(`ADMIN_ACCOUNTS must list each administrator once: ${duplicates.join(', ')}`)
  }
  if (HOST !== undefined && !isLoopback(HOST)) {
    if (environment.WEBHOOK_ALLOW_LOOPBACK === 'true') {
      errors.push('WEBHOOK_ALLOW_LOOPBACK must not be true unless HOST is a loopback address')
    }
    const missing = REQUIRED_OFF_LOOPBACK.filter((name) => environment[name] === undefined)
    errors.push(...missing.map((name) => `${name} is required unless HOST is a loopback address`))
  }
  return [...errors, ...findInfiniteNumbers(environment)]
}
