import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { backupDatabase } from '../database/backup-database.js'
import { DatabaseError } from '../database/open-database.js'
import { getDatabasePath } from '../database/database-path.js'
import type { Config } from '../core/config/config.js'
import { ConfigError } from '../core/config/config-part.js'
import { callerDirectory, loadConfig } from './load-config.js'
import { formatOrderCount } from './import-progress.js'

const USAGE = `Usage: npm run -s orders:backup -- FILE

Copies the order database in DATA_DIR to a new file, as a consistent snapshot. The service can
keep running. Reads the environment and .env, like npm start.`

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

function findDatabasePath({ DATA_DIR, DATABASE_URL }: Config): string {
  if (DATABASE_URL !== undefined) {
    throw new ConfigError([
      'DATABASE_URL is set: data is stored in PostgreSQL. Use pg_dump instead',
    ])
  }
  const path = getDatabasePath(DATA_DIR)
  if (!existsSync(path)) throw new DatabaseError(`Order database not found: ${path} (DATA_DIR)`)
  return path
}

const [file, ...others] = process.argv.slice(2)
if (file === '--help' || file === '-h') {
  process.stdout.write(`${USAGE}\n`)
  process.exit(0)
}
if (file === undefined || file === '' || others.length > 0) fail(USAGE)

try {
  const target = resolve(callerDirectory('orders:backup'), file)
  const config = await loadConfig()
  const orders = await backupDatabase(findDatabasePath(config), target)
  const isMirror = config.DATABASE_BASE_URL !== undefined
  process.stdout.write(
    `${formatOrderCount(orders)} backed up to ${target}\n${isMirror ? 'These orders mirror NocoDB: back up its database as well.\n' : ''}`,
  )
} catch (error) {
  if (error instanceof ConfigError) fail(error.message)
  fail(`The backup failed: ${error instanceof DatabaseError ? error.message : String(error)}`)
}
