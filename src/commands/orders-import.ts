import { createReadStream, existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from 'better-sqlite3'
import { BookError, openDatabase } from '../database/open-database.js'
import { getOrderStorePath } from '../order-store/sqlite/sqlite-order-store.js'
import { setTimeZone } from '../order-store/sqlite/settings.js'
import { formatImportError, type ImportErrors } from '../orders/import/import-errors.js'
import { importOrders } from '../orders/import/import-orders.js'
import { ConfigError } from '../config/config-error.js'
import { callerDirectory } from './caller-directory.js'
import { loadConfig } from './load-config.js'
import { createProgressBar, formatOrderCount } from './import-progress.js'

const INTERRUPTED = 130

const USAGE = `Usage: npm run -s orders:import -- FILE.csv (or - for standard input)

Reads a CSV file of orders into the order book in DATA_DIR, all of it or, where anything is
wrong with it, nothing. Variables come from the environment and a file .env, as for npm start.`

function fail(message: string, code = 1): never {
  process.stderr.write(`${message}\n`)
  process.exit(code)
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

/** What an operator can mend gets a plain message; anything else is a fault of ours, with its stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigError || error instanceof BookError) return error.message
  const code = codeOf(error)
  if (code.startsWith('SQLITE_BUSY')) return 'The order book is being written to by another import.'
  if (code.startsWith('SQLITE_FULL')) return 'The disk is full.'
  if (/^E[A-Z]+$/.test(code)) return `The file cannot be read (${code}).`
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function sizeOf(path: string, asGiven: string): number {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) fail(`There is no file ${asGiven}.`)
  if (stats.isDirectory()) fail(`${asGiven} is a folder, not a file.`)
  return stats.size
}

function explainFaults(faults: ImportErrors): string {
  const told = faults.first()
  const more = faults.total - told.length
  return [
    `Nothing was imported: ${faults.total.toLocaleString('en')} ${faults.total === 1 ? 'fault' : 'faults'}.`,
    ...told.map((fault) => `  ${formatImportError(fault)}`),
    ...(more > 0 ? [`  and ${more.toLocaleString('en')} more`] : []),
  ].join('\n')
}

/** Half of what the service takes: memory goes to sorting too. */
const CACHE_KIB = 16 * 1024

/** The book that the service uses, waiting for other writers as no request would. */
async function openBook(): Promise<{ db: Database; where: string }> {
  const { DATA_DIR, TIME_ZONE, nocoDb } = await loadConfig()
  if (nocoDb !== null) {
    throw new ConfigError([
      'DATABASE_BASE_URL is set: the orders are in NocoDB, which imports files itself, into the table of the orders',
    ])
  }
  const path = getOrderStorePath(DATA_DIR)
  const isNew = !existsSync(path)
  const db = openDatabase(path)
  if (isNew) setTimeZone(db, TIME_ZONE)
  db.pragma('busy_timeout = 60000')
  db.pragma(`cache_size = -${CACHE_KIB}`)
  return { db, where: `${path}${isNew ? ', a new order book' : ''}` }
}

/**
 * Copies the journal, which has grown as large as the import, into the book, and cuts it. SQLite
 * waits for readers, but not for the service when that is copying too. Where others are in the way
 * for longer, or the disk, the service does it later.
 */
async function tidyUp(db: Database): Promise<void> {
  try {
    db.pragma('busy_timeout = 200')
    for (let tries = 0; tries < 20; tries++) {
      const isBusy = db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }) === 1
      if (!isBusy) break
      await sleep(100)
    }
    db.close()
  } catch {
    // The orders are in the journal, which is as good as in the book.
  }
}

/*
 * Reads a file of orders into the order book, all of it or nothing: 0, or 1 and every fault.
 */
const [file, ...others] = process.argv.slice(2)
if (file === '--help' || file === '-h') {
  process.stdout.write(`${USAGE}\n`)
  process.exit(0)
}
if (file === undefined || file === '' || others.length > 0) fail(USAGE)
const path = file === '-' ? null : resolve(callerDirectory('orders:import'), file)
const size = path === null ? null : sizeOf(path, file)
const progress = createProgressBar(process.stderr, size)

/** Until the book is locked nothing has touched it; from then on the end of the process undoes all. */
const stop = (): never => {
  progress.clear()
  fail('Stopped: nothing was imported.', INTERRUPTED)
}
process.once('SIGINT', stop)

/** The outcome, and the book to be closed. Ends the process where there is none. */
async function imported() {
  try {
    const { db, where } = await openBook()
    const source =
      path === null ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 })
    const outcome = await importOrders(db, source, {
      onRead: progress.onRead,
      onPhase(phase) {
        process.off('SIGINT', stop)
        progress.onPhase(phase)
      },
    })
    return { db, where, outcome }
  } catch (error) {
    progress.clear()
    return fail(`Nothing was imported. ${explain(error)}`)
  }
}

const begun = performance.now()
const { db, where, outcome } = await imported()
if (!outcome.ok) {
  progress.clear()
  fail(explainFaults(outcome.faults))
}
progress.clear()
const seconds = ((performance.now() - begun) / 1000).toFixed(1)
// A DATA_DIR that was mistyped, or not given, would look like success otherwise.
process.stdout.write(
  `${formatOrderCount(outcome.orders)} imported in ${seconds} s into ${where}.\n`,
)
await tidyUp(db)
