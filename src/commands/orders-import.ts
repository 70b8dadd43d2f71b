import { createReadStream, existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { DatabaseError, openDatabase } from '../database/open-database.js'
import { getDatabasePath } from '../database/database-path.js'
import { setTimeZone } from '../orders/store/sqlite/settings.js'
import { formatImportError, type ImportErrors } from '../orders/import/import-errors.js'
import { importOrders } from '../orders/import/import-orders.js'
import { ConfigError } from '../core/config/config-error.js'
import { callerDirectory, loadConfig } from './load-config.js'
import { createProgressBar, formatOrderCount } from './import-progress.js'

const EXIT_INTERRUPTED = 130

const USAGE = `Usage: npm run -s orders:import -- FILE (or - for standard input)

Imports a CSV file or an Excel workbook (.xlsx) of orders into the order database in DATA_DIR. If any line has an error,
nothing is imported. Reads the environment and .env, like npm start.`

function fail(message: string, code = 1): never {
  process.stderr.write(`${message}\n`)
  process.exit(code)
}

const getErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** Errors that an operator can fix get a short message; other errors include the stack. */
function formatError(error: unknown): string {
  if (error instanceof ConfigError || error instanceof DatabaseError) return error.message
  const code = getErrorCode(error)
  if (code.startsWith('SQLITE_BUSY')) return 'Another import is writing to the order database.'
  if (code.startsWith('SQLITE_FULL')) return 'The disk is full.'
  if (/^E[A-Z]+$/.test(code)) return `The file could not be read (${code}).`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function getFileSize(path: string, name: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) fail(`File not found: ${name}`)
  if (stats.isDirectory()) fail(`${name} is a directory.`)
  return stats.size
}

function formatErrors(errors: ImportErrors): string {
  const shown = errors.getFirst()
  const more = errors.total - shown.length
  return [
    `Nothing was imported: ${errors.total.toLocaleString('en')} ${errors.total === 1 ? 'error' : 'errors'}.`,
    ...shown.map((error) => `  ${formatImportError(error)}`),
    ...(more > 0 ? [`  and ${more.toLocaleString('en')} more`] : []),
  ].join('\n')
}

/** Half of the service's cache, because sorting needs memory too. */
const CACHE_KIB = 16 * 1024

/** Opens the service's order database with a long lock timeout. */
async function openStore(): Promise<{ db: Database; location: string }> {
  const { DATA_DIR, DATABASE_URL, DATABASE_BASE_URL, TIME_ZONE } = await loadConfig()
  if (DATABASE_URL !== undefined && DATABASE_BASE_URL === undefined) {
    throw new ConfigError([
      'DATABASE_URL is set: orders are stored in PostgreSQL. Import the file without DATABASE_URL, then run npm run -s orders:copy',
    ])
  }
  if (DATABASE_BASE_URL !== undefined) {
    throw new ConfigError([
      'DATABASE_BASE_URL is set: orders are stored in NocoDB. Import the file into the orders table in NocoDB',
    ])
  }
  const path = getDatabasePath(DATA_DIR)
  const isNew = !existsSync(path)
  const db = openDatabase(path)
  if (isNew) setTimeZone(db, TIME_ZONE)
  db.pragma('busy_timeout = 60000')
  db.pragma(`cache_size = -${CACHE_KIB}`)
  return { db, location: `${path}${isNew ? ' (new database)' : ''}` }
}

/**
 * Checkpoints and truncates the WAL, which has grown as large as the import. Retries while the
 * database is in use; if that takes too long, the service checkpoints it later.
 */
async function checkpoint(db: Database): Promise<void> {
  try {
    db.pragma('busy_timeout = 200')
    for (let attempt = 0; attempt < 20; attempt++) {
      const isBusy = db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 1
      if (!isBusy) break
      await sleep(100)
    }
    db.close()
  } catch {
    // The orders are committed in the WAL; nothing is lost.
  }
}

/* Exit code 0: imported; 1: nothing imported, every error printed; 130: interrupted. */
const [file, ...others] = process.argv.slice(2)
if (file === '--help' || file === '-h') {
  process.stdout.write(`${USAGE}\n`)
  process.exit(0)
}
if (file === undefined || file === '' || others.length > 0) fail(USAGE)
const path = file === '-' ? null : resolve(callerDirectory('orders:import'), file)
const size = path === null ? null : getFileSize(path, file)
const progress = createProgressBar(process.stderr, size)

/**
 * Registered only until the transaction starts. If the process ends after that, the transaction is
 * rolled back.
 */
const stop = (): never => {
  progress.clear()
  fail('Interrupted. Nothing was imported.', EXIT_INTERRUPTED)
}
process.once('SIGINT', stop)

async function runImport() {
  try {
    const { db, location } = await openStore()
    const source =
      path === null ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 })
    const result = await importOrders(db, source, {
      onRead: progress.onRead,
      onPhase(phase) {
        process.off('SIGINT', stop)
        progress.onPhase(phase)
      },
    })
    return { db, location, result }
  } catch (error) {
    progress.clear()
    return fail(`Nothing was imported. ${formatError(error)}`)
  }
}

const startedAt = performance.now()
const { db, location, result } = await runImport()
progress.clear()
if (!result.ok) fail(formatErrors(result.errors))
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
// Showing the path reveals a wrong or missing DATA_DIR.
process.stdout.write(
  `${formatOrderCount(result.orders)} imported in ${seconds} s into ${location}.\n`,
)
await checkpoint(db)
