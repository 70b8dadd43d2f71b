import { isIP } from 'node:net'
import env from '@fastify/env'
import { Ajv, type ErrorObject } from 'ajv'
import fp from 'fastify-plugin'
import { ConfigError } from './config-error.js'
import { ConfigSchema, type Environment } from './config-schema.js'
import { describeFileError } from './read-or-create-file.js'
import { findConfigErrors, isLongSecret } from './find-config-errors.js'
import {
  findDatabaseConfigErrors,
  toNocoDbConfig,
  type NocoDbSettings,
} from '../../nocodb/nocodb-config.js'
import { findMailConfigErrors } from '../../mail/mail-config.js'
import { readOrCreateSessionSecret } from './session-secret.js'
import { findOrderingConfigErrors } from '../../checkout/checkout-config.js'
import { findPaymentConfigErrors } from '../../payments/payment-config.js'
import { findProviderConfigErrors } from '../../provider/provider-config.js'
import { toFieldErrors } from '../validation/field-errors.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** As read by @fastify/env; use `config` instead */
    environment: Environment
    config: Config
    /** Public origin of the service, without a trailing slash; never taken from a request */
    publicBaseUrl: () => string
  }
}

/** Variables that the configuration holds in another form. */
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

/** The validated configuration with its defaults. */
export type Config = Readonly<
  Omit<Environment, Replaced> & {
    /** The NocoDB base that stores the orders; `null` for SQLite or PostgreSQL */
    nocoDb: NocoDbSettings | null
    /** The current secret, then the previous one */
    sessionSecrets: readonly [string, ...string[]]
  }
>

/** A blank variable counts as not set, because most platforms clear variables in that way. */
const removeBlanks = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(environment)
      .map(([name, value]) => [name, value?.trim()] as const)
      .filter(([, value]) => value),
  )

const ajv = new Ajv({
  // TypeBox schemas need no validation.
  validateSchema: false,
  allErrors: true,
  coerceTypes: true,
  useDefaults: true,
  removeAdditional: true,
})

/** Removes NocoDB's variables, so that only `nocoDb` contains its settings and token. */
function removeNocoDbVariables(environment: Environment): Omit<Environment, Replaced> {
  const entries = Object.entries(environment).filter(
    ([name]) => !/^(DATABASE_(?!URL$|POOL_SIZE$)|NOCODB_)/.test(name),
  )
  return Object.fromEntries(entries) as Omit<Environment, Replaced>
}

/** Converts the schema errors that @fastify/env throws; rethrows anything else. */
function toSchemaErrors(error: unknown): string[] {
  if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) throw error
  return toFieldErrors(error.errors as ErrorObject[]).map(
    ({ path, message }) => `${path} ${message}`,
  )
}

function readOrCreateSecret(dataDir: string): string {
  let secret
  try {
    secret = readOrCreateSessionSecret(dataDir)
  } catch (error) {
    throw new ConfigError([
      `the session secret cannot be stored in DATA_DIR (${describeFileError(error)})`,
    ])
  }
  if (!isLongSecret(secret)) {
    throw new ConfigError(['the file session-secret in DATA_DIR is damaged: restore or delete it'])
  }
  return secret
}

interface Options {
  environment: NodeJS.ProcessEnv
  /** For `nocodb:setup`: requires NocoDB's variables, except for the ID of the table */
  isSetUp?: boolean
}

/** Reads and validates the environment once; throws ConfigError. */
export default fp<Options>(
  async (app, { environment, isSetUp = false }) => {
    const data = removeBlanks(environment)
    const errors = [
      ...findConfigErrors(data),
      ...findProviderConfigErrors(data),
      ...findOrderingConfigErrors(data),
      ...findMailConfigErrors(data),
      ...findPaymentConfigErrors(data),
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
      errors.unshift(...toSchemaErrors(error))
    }
    if (errors.length > 0) throw new ConfigError([...new Set(errors)])

    const { SESSION_SECRET, SESSION_SECRET_PREVIOUS, ...others } = app.environment
    const variables = removeNocoDbVariables(others)
    const nocoDb = toNocoDbConfig(app.environment)
    const secret = SESSION_SECRET ?? readOrCreateSecret(variables.DATA_DIR)
    const previous = SESSION_SECRET_PREVIOUS === undefined ? [] : [SESSION_SECRET_PREVIOUS]
    const sessionSecrets: Config['sessionSecrets'] = [secret, ...previous]
    const config: Config = Object.freeze({ ...variables, sessionSecrets, nocoDb })
    app.decorate('config', config)
    app.log.level = config.LOG_LEVEL
    app.decorate('publicBaseUrl', () => {
      const { HOST, PORT, PUBLIC_BASE_URL } = variables
      if (PUBLIC_BASE_URL !== undefined) return new URL(PUBLIC_BASE_URL).origin
      const address = app.server.address()
      const port = address !== null && typeof address === 'object' ? address.port : PORT
      return `http://${isIP(HOST) === 6 ? `[${HOST}]` : HOST}:${port}`
    })
  },
  { name: 'config' },
)
