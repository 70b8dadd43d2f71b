import { existsSync } from 'node:fs'
import { ConfigError } from '../core/config/config-part.js'
import { getDatabasePath } from '../database/database-plugin.js'
import { migratePostgres } from '../database/migrations.js'
import { DatabaseError } from '../database/open-database.js'
import { openPostgres } from '../database/postgres.js'
import { openSqliteDatabase } from '../database/sqlite-database.js'
import { copyDatabase, CopyMismatchError } from '../orders/store/copy-database.js'
import { foldSearchTexts, readTimeZone, setTimeZone } from '../orders/store/store-settings.js'
import { describeError, fail, formatOrderCount, loadConfig, printHelp } from './command.js'

const USAGE = `Usage: npm run -s orders:copy -- --from sqlite --to postgres

Copies the database in DATA_DIR to DATABASE_URL, and compares the orders and their history in both. Stop the service first, or restart it with ORDERS_READ_ONLY=true. If the copy is interrupted, run the command again to continue. Reads the environment and .env, like npm start.`

printHelp(USAGE)
const given = process.argv.slice(2).join(' ')
if (given !== '--from sqlite --to postgres') fail(USAGE)

try {
  const { DATA_DIR, DATABASE_URL: url } = await loadConfig()
  if (url === undefined) throw new ConfigError(['DATABASE_URL must be set'])
  const path = getDatabasePath(DATA_DIR)
  if (!existsSync(path)) throw new DatabaseError(`Order database not found: ${path} (DATA_DIR)`)
  // Both are migrated, so that they have the same columns.
  const sqlite = openSqliteDatabase(path)
  const postgres = openPostgres(url, { poolSize: 1 })
  await migratePostgres(postgres)
  await foldSearchTexts(sqlite)
  await setTimeZone(postgres, await readTimeZone(sqlite))
  await foldSearchTexts(postgres)
  // In a transaction that writes, so that a service that uses the file can only read it.
  const { orders, digests } = await sqlite.write((tx) =>
    copyDatabase(tx, postgres, (done, total) => {
      if (done % 50_000 === 0) process.stdout.write(`${done} of ${total}\n`)
    }),
  )
  await postgres.close()
  await sqlite.close()
  process.stdout.write(
    `${formatOrderCount(orders)} copied. Both databases have the same content:\n  orders   ${digests.orders}\n  history  ${digests.changes}\n`,
  )
} catch (error) {
  fail(error instanceof CopyMismatchError ? error.message : describeError(error))
}
