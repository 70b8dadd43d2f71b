import { isIP } from 'node:net'
import env from '@fastify/env'
import { Ajv, type ErrorObject } from 'ajv'
import fp from 'fastify-plugin'
import { parseBaseUrl } from '../provider/base-url.js'
import { parsePublicRoutes } from '../provider/public-routes.js'
import type { NocoDbSettings } from '../order-store/nocodb/nocodb-settings.js'
import { toFieldErrors } from '../validation/field-errors.js'
import { isCurrency } from '../validation/formats.js'
import { parseAdminAccounts } from './admin-accounts.js'
import { ConfigSchema, type Environment } from './config-schema.js'
import { toNocoDbConfig, findDatabaseConfigErrors } from './nocodb-config.js'
import { describeFileError } from './describe-file-error.js'
import { isLoopback } from '../http/loopback.js'
import { readOrCreateSessionSecret } from './session-secret.js'
import { isValidTrustProxy } from './trust-proxy.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** As read by @fastify/env; use `config` */
    environment: Environment
    config: Config
    /** Where this service is reached from outside; never taken from a request. No slash at the end. */
    publicBaseUrl: () => string
  }
}

/** Variables that the configuration has in another shape. */
type Replaced =
  | 'SESSION_SECRET'
  | 'SESSION_SECRET_PREVIOUS'
  | 'DATABASE_BASE_URL'
  | 'DATABASE_BASE_ID'
  | 'DATABASE_API_KEY'
  | 'DATABASE_ORDERS_TABLE_ID'
  | 'NOCODB_SYNC_INTERVAL'
  | 'NOCODB_REQUESTS_PER_SECOND'
  | 'NOCODB_COLUMNS'

/** The configuration, checked, with what was left out filled in. */
export type Config = Readonly<
  Omit<Environment, Replaced> & {
    /** NocoDB that holds the orders; `null` where they are in a book of our own */
    nocoDb: NocoDbSettings | null
    /** The current secret first, then the one before */
    sessionSecrets: readonly [string, ...string[]]
  }
>

/** The configuration does not do; `message` names everything that is wrong with it. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  constructor(problems: readonly string[]) {
    super(
      ['Clearwake cannot start with this configuration:', ...problems.map((p) => `  ${p}`)].join(
        '\n',
      ),
    )
  }
}

const SECRET_BYTES = 32
const NEEDED_ELSEWHERE = ['SESSION_SECRET', 'ADMIN_ACCOUNTS', 'PUBLIC_BASE_URL'] as const

/** What the schema cannot say. Works on the text as given, so that it can run beside the schema. */
function problemsOf(given: NodeJS.ProcessEnv): string[] {
  const rules: [name: string, holds: (text: string) => boolean, rule: string][] = [
    ['SESSION_SECRET', isLongEnough, `must have at least ${SECRET_BYTES} bytes`],
    ['SESSION_SECRET_PREVIOUS', isLongEnough, `must have at least ${SECRET_BYTES} bytes`],
    ['PORT', isPort, 'must be a whole number'],
    ['PUBLIC_BASE_URL', isOrigin, 'must be an http or https address without a path'],
    ['CHECKOUT_URL', (text) => httpUrl(text) !== null, 'must be an http or https address'],
    ['TIME_ZONE', isTimeZone, 'must be the name of a time zone, such as Europe/Lisbon'],
    ['CURRENCY', isCurrency, 'must be an ISO 4217 code in capitals, such as EUR'],
    [
      'ADMIN_ACCOUNTS',
      (text) => parseAdminAccounts(text) !== null,
      'must be email:hash pairs, comma-separated; npm run -s admin:hash makes one',
    ],
    ['REDIS_URL', isRedisUrl, 'must be a redis or rediss address'],
    [
      'TRUST_PROXY',
      isValidTrustProxy,
      'must be true, false, a number of hops, or addresses, comma-separated',
    ],
    [
      'ORDERSOURCE_BASE_URL',
      (text) => parseBaseUrl(text) !== null,
      'must be an https address without query (http on a loopback address only)',
    ],
    ['ORDERSOURCE_API_TOKEN', isToken, 'must be ASCII without spaces'],
    [
      'ORDERSOURCE_PUBLIC_ROUTES',
      (text) => parsePublicRoutes(text) !== null,
      'must be none, or methods with paths, comma-separated, such as GET /portfolios',
    ],
  ]
  const problems = rules.flatMap(([name, holds, rule]) => {
    const text = given[name]
    return text === undefined || holds(text) ? [] : [`${name} ${rule}`]
  })
  if (given.ORDERSOURCE_BASE_URL !== undefined && given.ORDERSOURCE_API_TOKEN === undefined) {
    problems.push('ORDERSOURCE_API_TOKEN must be set, since ORDERSOURCE_BASE_URL is')
  }
  const twice = namedTwice(given.ADMIN_ACCOUNTS ?? '')
  if (twice.length > 0) {
    problems.push(
      `ADMIN_ACCOUNTS must name each administrator once: ${twice.join(', ')} stands there more often`,
    )
  }
  if (given.HOST !== undefined && !isLoopback(given.HOST)) {
    for (const name of NEEDED_ELSEWHERE) {
      if (given[name] === undefined) {
        problems.push(`${name} must be set, since HOST is not a loopback address`)
      }
    }
  }
  return problems
}

/** E-mail addresses that have more than one pair, of which only one could count. */
function namedTwice(accounts: string): string[] {
  const emails = (parseAdminAccounts(accounts) ?? []).map(({ email }) => email)
  return [...new Set(emails.filter((email, index) => emails.indexOf(email) !== index))]
}

// The schema's conversion would take 0x50 and 8e1 too.
const isPort = (text: string): boolean => /^\d+$/.test(text)

const isLongEnough = (secret: string): boolean => Buffer.byteLength(secret) >= SECRET_BYTES

// It travels in a header.
const isToken = (text: string): boolean => /^[\x21-\x7e]+$/.test(text)

function httpUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null
  return url && /^https?:$/.test(url.protocol) && !url.username && !url.password ? url : null
}

function isOrigin(text: string): boolean {
  const url = httpUrl(text)
  return url !== null && url.pathname === '/' && !url.search && !url.hash
}

function isRedisUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : null
  return url !== null && /^rediss?:$/.test(url.protocol) && url.hostname !== ''
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}

/** A variable set to nothing is one not set: that is how most platforms clear one. */
const withoutBlanks = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(environment)
      .map(([name, value]) => [name, value?.trim()] as const)
      .filter(([, value]) => value),
  )

const ajv = new Ajv({
  // The schema is TypeBox's, so it is valid.
  validateSchema: false,
  allErrors: true,
  coerceTypes: true,
  useDefaults: true,
  removeAdditional: true,
})

/** Where NocoDB is stands in one place of the configuration, its token with it. */
function withoutDatabase(environment: Environment): Omit<Environment, Replaced> {
  const entries = Object.entries(environment).filter(([name]) => !/^(DATABASE|NOCODB)_/.test(name))
  return Object.fromEntries(entries) as Omit<Environment, Replaced>
}

/** The schema's complaints that @fastify/env throws; anything else it throws goes on up. */
function schemaProblems(error: unknown): string[] {
  if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) throw error
  return toFieldErrors(error.errors as ErrorObject[]).map(
    ({ path, message }) => `${path} ${message}`,
  )
}

/** What is wrong with numbers such as 1e400: Ajv does not look at what it has converted. */
const boundless = (given: NodeJS.ProcessEnv): string[] =>
  Object.keys(ConfigSchema.properties)
    .filter((name) => Math.abs(Number(given[name])) === Infinity)
    .map((name) => `${name} must be a number within reason`)

function secretIn(dataDir: string): string {
  let secret
  try {
    secret = readOrCreateSessionSecret(dataDir)
  } catch (error) {
    throw new ConfigError([`DATA_DIR cannot hold the session secret (${describeFileError(error)})`])
  }
  if (!isLongEnough(secret)) {
    throw new ConfigError(['DATA_DIR holds a damaged file session-secret: restore or remove it'])
  }
  return secret
}

interface Options {
  environment: NodeJS.ProcessEnv
  /** NocoDB is to be set up: it must be named, its table of orders need not */
  isSetUp?: boolean
}

/** Reads the environment, once, and decorates the app with it; throws ConfigError. */
export default fp<Options>(
  async (app, { environment, isSetUp = false }) => {
    const data = withoutBlanks(environment)
    const problems = [
      ...problemsOf(data),
      ...boundless(data),
      ...findDatabaseConfigErrors(data, isSetUp),
    ]
    try {
      await app.register(env, {
        schema: ConfigSchema,
        data,
        env: false,
        confKey: 'environment',
        ajv: { customOptions: () => ajv },
      })
    } catch (error) {
      problems.unshift(...schemaProblems(error))
    }
    if (problems.length > 0) throw new ConfigError([...new Set(problems)])

    const { SESSION_SECRET, SESSION_SECRET_PREVIOUS, ...others } = app.environment
    const read = withoutDatabase(others)
    const nocoDb = toNocoDbConfig(app.environment)
    const secret = SESSION_SECRET ?? secretIn(read.DATA_DIR)
    const previous = SESSION_SECRET_PREVIOUS === undefined ? [] : [SESSION_SECRET_PREVIOUS]
    const sessionSecrets: Config['sessionSecrets'] = [secret, ...previous]
    const config: Config = Object.freeze({ ...read, sessionSecrets, nocoDb })
    app.decorate('config', config)
    app.log.level = config.LOG_LEVEL
    app.decorate('publicBaseUrl', () => {
      if (read.PUBLIC_BASE_URL !== undefined) return new URL(read.PUBLIC_BASE_URL).origin
      const address = app.server.address()
      const port = address !== null && typeof address === 'object' ? address.port : read.PORT
      return `http://${isIP(read.HOST) === 6 ? `[${read.HOST}]` : read.HOST}:${port}`
    })
  },
  { name: 'config' },
)
