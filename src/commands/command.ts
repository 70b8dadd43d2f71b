import { existsSync } from 'node:fs'
import Fastify from 'fastify'
import { CONFIG_PARTS } from '../config-parts.js'
import { ConfigError } from '../core/config/config-part.js'
import config, { type Config } from '../core/config/config.js'
import { getDatabasePath } from '../database/database-plugin.js'
import { DatabaseError, DatabaseUnavailableError } from '../database/database.js'
import type { ImportProgress } from '../orders/import/import-orders.js'

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

const BAR_WIDTH = 30
const REDRAW_INTERVAL_MS = 100

export const formatOrderCount = (orders: number): string =>
  `${orders.toLocaleString('en')} ${orders === 1 ? 'order' : 'orders'}`

function drawBar(share: number): string {
  const filled = Math.floor(share * BAR_WIDTH)
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)} ${Math.floor(share * 100)}%`
}

interface Screen {
  isTTY?: boolean
  write: (text: string) => unknown
}

/** A progress bar on one line of a terminal. */
function createTerminalProgress(screen: Screen, size: number | null) {
  let lastDrawn = 0
  const draw = (text: string): void => void screen.write(`\r${text}\x1b[K`)
  return {
    onRead(bytes: number, orders: number): void {
      const now = performance.now()
      if (now - lastDrawn < REDRAW_INTERVAL_MS) return
      lastDrawn = now
      const share = size === null ? '' : `${drawBar(Math.min(bytes / size, 1))}, `
      draw(`Reading: ${share}${formatOrderCount(orders)}`)
    },
    onPhase: (phase: string): void => draw(`Importing: ${phase}…`),
    clear: (): void => draw(''),
  }
}

/** Log output: one line for each 10% of the file. */
function createLogProgress(screen: Screen, size: number | null) {
  let tenths = 0
  return {
    onRead(bytes: number, orders: number): void {
      const reached = size === null ? 0 : Math.min(Math.floor((bytes / size) * 10), 10)
      if (reached <= tenths) return
      tenths = reached
      screen.write(`Read ${tenths * 10}%, ${formatOrderCount(orders)}\n`)
    },
    onPhase: (phase: string): void => void screen.write(`Importing: ${phase}\n`),
    clear(): void {},
  }
}

/** @param size size of the file in bytes; `null` if unknown */
export const createProgressBar = (
  screen: Screen,
  size: number | null,
): ImportProgress & { clear: () => void } =>
  screen.isTTY === true ? createTerminalProgress(screen, size) : createLogProgress(screen, size)
