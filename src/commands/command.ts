import { existsSync } from 'node:fs'
import Fastify from 'fastify'
import { CONFIG_PARTS } from '../config-parts.js'
import { ConfigError } from '../core/config/config-part.js'
import config, { type Config } from '../core/config/config.js'
import { getDatabasePath } from '../database/database-config.js'
import { DatabaseError, DatabaseUnavailableError } from '../database/database.js'

/**
 * Loads the configuration as the service does: the environment takes precedence over `.env`. Throws
 * ConfigError.
 */
export async function loadConfig(parts = CONFIG_PARTS): Promise<Readonly<Config>> {
  if (existsSync('.env')) process.loadEnvFile('.env')
  const app = Fastify()
  await app.register(config, { environment: process.env, parts })
  await app.close()
  return app.config
}

/** The directory from which a command was called; npm runs scripts in the project directory. */
export function callerDirectory(command: string): string {
  const { npm_lifecycle_event: script, INIT_CWD } = process.env
  return (script === command ? INIT_CWD : undefined) ?? process.cwd()
}

/** The file of SQLite. Throws if there is none; `advice` says what to do with PostgreSQL. */
export function findDatabaseFile({ DATA_DIR, DATABASE_URL }: Config, advice: string): string {
  if (DATABASE_URL !== undefined) {
    throw new ConfigError([`DATABASE_URL is set: data is stored in PostgreSQL. ${advice}`])
  }
  const path = getDatabasePath(DATA_DIR)
  if (!existsSync(path)) throw new DatabaseError(`Order database not found: ${path} (DATA_DIR)`)
  return path
}

export function fail(message: string, code = 1): never {
  process.stderr.write(`${message}\n`)
  process.exit(code)
}

const EXPECTED = [ConfigError, DatabaseError, DatabaseUnavailableError]

/** Errors that an operator can fix get a short message; other errors include the stack. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isExpected = EXPECTED.some((type) => error instanceof type)
  return isExpected ? error.message : (error.stack ?? error.message)
}

/** Prints how to call a command and exits, if the command line asks for it. */
export function printHelp(usage: string): void {
  if (!['--help', '-h'].includes(process.argv[2] ?? '')) return
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}
