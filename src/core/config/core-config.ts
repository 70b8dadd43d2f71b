import { statSync } from 'node:fs'
import { extname } from 'node:path'
import { Type } from '@sinclair/typebox'
import { isLoopback, isValidTrustProxy } from '../http/client-address.js'
import { isEmail } from '../validation/email-address.js'
import { stringEnum } from '../validation/formats.js'
import {
  limit,
  optional,
  parseHttpUrl,
  toSecretRule,
  type ConfigPart,
  type ConfigRule,
} from './config-part.js'

const variables = {
  HOST: Type.String({ default: '127.0.0.1', description: 'Address to listen on' }),
  PORT: Type.Integer({
    minimum: 0,
    maximum: 65_535,
    default: 3000,
    description: 'Port to listen on; 0 for any free port',
  }),
  PUBLIC_BASE_URL: optional('Origin of QR links, such as https://carbon.example.com'),
  SESSION_SECRET: optional(
    'At least 32 bytes; signs sessions and QR links, and encrypts stored secrets',
  ),
  SESSION_SECRET_PREVIOUS: optional(
    'The previous secret, still accepted for what was signed or encrypted with it',
  ),
  DATA_DIR: Type.String({
    default: './data',
    description: 'Directory for the files of the service',
  }),
  TIME_ZONE: Type.String({ default: 'UTC', description: 'IANA time zone of displayed dates' }),
  BRAND_NAME: Type.String({
    default: 'Clearwake',
    minLength: 1,
    maxLength: 60,
    description: "The operator's name in the header of every page",
  }),
  BRAND_LOGO: optional('Path of the logo: SVG, PNG, JPEG or WebP, at most 200 kB'),
  TRUST_PROXY: Type.String({
    default: 'false',
    description: 'Trusted proxies: true, a number of hops, or addresses',
  }),
  SECURITY_CONTACT: optional(
    'Where to report vulnerabilities: an email, or an https or mailto URL',
  ),
  METRICS_TOKEN: optional('Bearer token for /metrics; without it, loopback only'),
  LOG_LEVEL: stringEnum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    default: 'info',
    description: 'Minimum level of log entries',
  }),
  RATE_LIMIT_PER_MINUTE: limit(6000, 'Requests per client per minute'),
  SHED_AFTER_MS: Type.Integer({
    minimum: 50,
    maximum: 60_000,
    default: 300,
    description: 'How long a request may queue before it is rejected',
  }),
  SHUTDOWN_TIMEOUT_MS: Type.Integer({
    minimum: 0,
    maximum: 600_000,
    default: 10_000,
    description: 'Time for requests in progress to finish at shutdown',
  }),
}

// Stricter than the schema's conversion, which accepts 0x50 and 8e1.
const isPort = (text: string): boolean => /^\d+$/.test(text)

function isOrigin(text: string): boolean {
  const url = parseHttpUrl(text)
  return url !== null && url.pathname === '/' && !url.search && !url.hash
}

const isContact = (text: string): boolean =>
  isEmail(text) || (/^(?:https:\/\/|mailto:)[\x21-\x7e]+$/.test(text) && URL.canParse(text))

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

const rules: readonly ConfigRule[] = [
  toSecretRule('SESSION_SECRET'),
  toSecretRule('SESSION_SECRET_PREVIOUS'),
  ['PORT', isPort, 'must be a whole number'],
  ['PUBLIC_BASE_URL', isOrigin, 'must be an http or https URL without a path'],
  [
    'BRAND_LOGO',
    isLogoFile,
    'must be the path of an SVG, PNG, JPEG or WebP file of at most 200 kB',
  ],
  ['TIME_ZONE', isTimeZone, 'must be the name of a time zone, such as Europe/Lisbon'],
  ['SECURITY_CONTACT', isContact, 'must be an email address, or an https or mailto URL'],
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

function findErrors(environment: NodeJS.ProcessEnv): string[] {
  const required = ['SESSION_SECRET', 'PUBLIC_BASE_URL']
  const missing = isPublic(environment)
    ? required.filter((name) => environment[name] === undefined)
    : []
  return missing.map(toPublicError)
}

/** Whether the service can be reached from other machines. */
export const isPublic = ({ HOST }: NodeJS.ProcessEnv): boolean =>
  HOST !== undefined && !isLoopback(HOST)

export const toPublicError = (name: string): string =>
  `${name} is required unless HOST is a loopback address`

/** The variables that every web service needs. */
export const coreConfig = { variables, rules, findErrors } satisfies ConfigPart

/** Content types of logos by file extension. */
export const LOGO_TYPES: Record<string, string> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
}

const MAX_LOGO_BYTES = 200_000

/** Whether a file is a readable image that is small enough for every page. */
function isLogoFile(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false })
  return (
    extname(path).toLowerCase() in LOGO_TYPES &&
    file !== undefined &&
    file.isFile() &&
    file.size <= MAX_LOGO_BYTES
  )
}
