import { randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import env from '@fastify/env'
import { Type, type TProperties } from '@sinclair/typebox'
import { Ajv, type ErrorObject } from 'ajv'
import fp from 'fastify-plugin'
import { toFieldErrors } from '../validation/field-errors.js'
import {
  ConfigError,
  findConfigErrors,
  isLongSecret,
  type ConfigPart,
  type Values,
} from './config-part.js'
import { coreConfig } from './core-config.js'
import { describeFileError, readOrCreateFile } from './read-or-create-file.js'

type CoreVariables = Values<typeof coreConfig.variables>

declare module 'fastify' {
  interface FastifyInstance {
    /** As read by @fastify/env; use `config` instead */
    environment: CoreVariables & Config
    config: Readonly<Config>
    /** Public origin of the service, without a trailing slash; never taken from a request */
    publicBaseUrl: () => string
  }
}

/** The validated configuration with its defaults. Each feature adds its variables. */
export interface Config extends Omit<CoreVariables, 'SESSION_SECRET' | 'SESSION_SECRET_PREVIOUS'> {
  /** The current secret, then the previous one */
  sessionSecrets: readonly [string, ...string[]]
}

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

/** Finds numbers such as 1e400, because Ajv does not check the result of its conversion. */
const findInfiniteNumbers = (variables: TProperties, data: NodeJS.ProcessEnv): string[] =>
  Object.keys(variables)
    .filter((name) => Math.abs(Number(data[name])) === Infinity)
    .map((name) => `${name} is too large`)

/** Converts the schema errors that @fastify/env throws; rethrows anything else. */
function toSchemaErrors(error: unknown): string[] {
  if (!(error instanceof Error && 'errors' in error && Array.isArray(error.errors))) throw error
  return toFieldErrors(error.errors as ErrorObject[]).map(
    ({ path, message }) => `${path} ${message}`,
  )
}

/**
 * The secret in the data directory, created at the first start. If it is lost, printed codes become
 * invalid.
 */
function readOrCreateSecret(dataDir: string): string {
  const create = () => randomBytes(32).toString('base64url')
  let secret
  try {
    secret = readOrCreateFile(dataDir, 'session-secret', create).text
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
  /** The variables of the features */
  parts: readonly ConfigPart[]
}

/** Reads and validates the environment once; throws ConfigError. */
export default fp<Options>(
  async (app, { environment, parts }) => {
    const data = removeBlanks(environment)
    const all = [coreConfig, ...parts]
    const variables = Object.assign({}, ...all.map((part) => part.variables)) as TProperties
    const errors = [
      ...all.flatMap((part) => findConfigErrors(part, data)),
      ...findInfiniteNumbers(variables, data),
    ]
    try {
      await app.register(env, {
        schema: Type.Object(variables),
        data,
        env: false,
        confKey: 'environment',
        ajv,
      })
    } catch (error) {
      errors.unshift(...toSchemaErrors(error))
    }
    if (errors.length > 0) throw new ConfigError([...new Set(errors)])

    const { SESSION_SECRET, SESSION_SECRET_PREVIOUS, ...others } = app.environment
    const secret = SESSION_SECRET ?? readOrCreateSecret(others.DATA_DIR)
    const previous = SESSION_SECRET_PREVIOUS === undefined ? [] : [SESSION_SECRET_PREVIOUS]
    const config = Object.freeze<Config>({ ...others, sessionSecrets: [secret, ...previous] })
    app.decorate('config', config)
    app.log.level = config.LOG_LEVEL
    app.decorate('publicBaseUrl', () => {
      const { HOST, PORT, PUBLIC_BASE_URL } = config
      if (PUBLIC_BASE_URL !== undefined) return new URL(PUBLIC_BASE_URL).origin
      const address = app.server.address()
      const port = address !== null && typeof address === 'object' ? address.port : PORT
      return `http://${isIP(HOST) === 6 ? `[${HOST}]` : HOST}:${port}`
    })
  },
  { name: 'config' },
)
