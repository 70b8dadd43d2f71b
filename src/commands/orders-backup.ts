import { resolve } from 'node:path'
import { ConfigError } from '../core/config/config-part.js'
import { backupDatabase } from '../database/backup-database.js'
import { DatabaseError } from '../database/open-database.js'
import { callerDirectory, fail, findDatabaseFile, loadConfig, printHelp } from './command.js'
import { formatOrderCount } from './import-progress.js'

const USAGE = `Usage: npm run -s orders:backup -- FILE

Copies the order database in DATA_DIR to a new file, as a consistent snapshot. The service can
keep running. Reads the environment and .env, like npm start.`

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
