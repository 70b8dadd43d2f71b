import { closeSync, fsyncSync, linkSync, openSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import Database from 'better-sqlite3'
import { ConfigError } from '../core/config/config-part.js'
import { DatabaseError, getErrorCode, toDatabaseError } from '../database/database.js'
import { createDamageError, inspectDatabase, isIntact } from '../database/inspect-database.js'
import { openReadOnly } from '../database/open-database.js'
import {
  callerDirectory,
  fail,
  findDatabaseFile,
  formatOrderCount,
  loadConfig,
  printHelp,
} from './command.js'

const USAGE = `Usage: npm run -s orders:backup -- FILE

Copies the order database in DATA_DIR to a new file, as a consistent snapshot. The service can
keep running. Reads the environment and .env, like npm start.`

const BUSY_TIMEOUT_MS = 5_000
/** Copies all pages in one step, because otherwise each write of the service restarts the copy. */
const ALL_PAGES = 2 ** 31 - 1

function flush(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

async function copy(path: string, target: string): Promise<void> {
  const db = openReadOnly(path)
  try {
    await db.backup(target, { progress: () => ALL_PAGES })
  } finally {
    db.close()
  }
}

/** Converts a copy of `path` to a single file without a journal; returns its number of orders. */
function finalize(copyPath: string, path: string): number {
  const db = new Database(copyPath)
  try {
    if (!isIntact(db)) throw createDamageError(path)
    db.pragma('journal_mode = DELETE')
    return db.prepare<[], number>('SELECT count(*) FROM orders').pluck().get() ?? 0
  } finally {
    db.close()
  }
}

/**
 * Copies an order database, even while it is in use, to a new file that only its owner can read.
 * Returns the number of orders. The file appears only once it is complete. Throws DatabaseError.
 */
async function backupDatabase(path: string, target: string): Promise<number> {
  const temporaryPath = `${target}.${process.pid}.tmp`
  try {
    inspectDatabase(path, BUSY_TIMEOUT_MS)
    closeSync(openSync(temporaryPath, 'wx', 0o600))
    await copy(path, temporaryPath)
    const orders = finalize(temporaryPath, path)
    flush(temporaryPath)
    linkSync(temporaryPath, target)
    return orders
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') {
      throw new DatabaseError(`${target} already exists: name a new file.`, { cause: error })
    }
    throw toDatabaseError(getErrorCode(error).startsWith('SQLITE') ? path : target, error)
  } finally {
    for (const suffix of ['', '-wal', '-shm', '-journal']) {
      rmSync(temporaryPath + suffix, { force: true })
    }
  }
}

const [file, ...others] = process.argv.slice(2)
printHelp(USAGE)
if (file === undefined || file === '' || others.length > 0) fail(USAGE)

try {
  const target = resolve(callerDirectory('orders:backup'), file)
  const config = await loadConfig()
  const orders = await backupDatabase(findDatabaseFile(config, 'Use pg_dump instead'), target)
  const isMirror = config.DATABASE_BASE_URL !== undefined
  process.stdout.write(
    `${formatOrderCount(orders)} backed up to ${target}\n${isMirror ? 'These orders mirror NocoDB: back up its database as well.\n' : ''}`,
  )
} catch (error) {
  if (error instanceof ConfigError) fail(error.message)
  fail(`The backup failed: ${error instanceof DatabaseError ? error.message : String(error)}`)
}
