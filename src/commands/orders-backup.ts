import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { backupDatabase } from '../database/backup-database.js'
import { BookError } from '../database/open-database.js'
import { getOrderStorePath } from '../order-store/sqlite/sqlite-order-store.js'
import { ConfigError } from '../config/config-error.js'
import { callerDirectory } from './caller-directory.js'
import { loadConfig } from './load-config.js'
import { formatOrderCount } from './import-progress.js'

const USAGE = `Usage: npm run -s orders:backup -- FILE

Copies the order book in DATA_DIR into a new file, as it is at one moment; the service may be
running. Variables come from the environment and a file .env, as for npm start.`

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

async function pathOfBook(): Promise<string> {
  const { DATA_DIR, nocoDb } = await loadConfig()
  if (nocoDb !== null) {
    throw new ConfigError([
      'DATABASE_BASE_URL is set: the orders are in NocoDB, whose database is what to back up',
    ])
  }
  const path = getOrderStorePath(DATA_DIR)
  if (!existsSync(path)) throw new BookError(`There is no order book ${path} (DATA_DIR).`)
  return path
}

/*
 * Backs the order book up: 0, or 1 and why not.
 */
const [file, ...others] = process.argv.slice(2)
if (file === '--help' || file === '-h') {
  process.stdout.write(`${USAGE}\n`)
  process.exit(0)
}
if (file === undefined || file === '' || others.length > 0) fail(USAGE)

try {
  const target = resolve(callerDirectory('orders:backup'), file)
  const orders = await backupDatabase(await pathOfBook(), target)
  process.stdout.write(`${formatOrderCount(orders)} copied to ${target}\n`)
} catch (error) {
  if (error instanceof ConfigError) fail(error.message)
  fail(`Nothing was copied: ${error instanceof BookError ? error.message : String(error)}`)
}
