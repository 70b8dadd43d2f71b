import { createReadStream, existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { ConfigError } from '../core/config/config-part.js'
import { getDatabasePath, openServiceDatabase } from '../database/database-plugin.js'
import { truncateLog } from '../database/rewrite-file.js'
import { rejectMirror } from '../nocodb/mirror-state.js'
import { formatImportError, type ImportErrors } from '../orders/import/import-errors.js'
import { importOrders } from '../orders/import/import-orders.js'
import { setTimeZone } from '../orders/store/store-settings.js'
import {
  callerDirectory,
  createProgressBar,
  describeError,
  fail,
  formatOrderCount,
  loadConfig,
  printHelp,
} from './command.js'

const EXIT_INTERRUPTED = 130

const USAGE = `Usage: npm run -s orders:import -- FILE (or - for standard input)

Imports a CSV file or an Excel workbook (.xlsx) of orders into the database of the service: the file in
DATA_DIR, or PostgreSQL with DATABASE_URL. If any line has an error, nothing is imported. Reads the environment and .env, like npm start.`

function formatError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return /^E[A-Z]+$/.test(code) ? `The file could not be read (${code}).` : describeError(error)
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

/** Opens the database of the service. */
async function openStore() {
  const config = await loadConfig()
  if (config.DATABASE_BASE_URL !== undefined) {
    throw new ConfigError([
      'DATABASE_BASE_URL is set: orders are stored in NocoDB. Import the file into the orders table in NocoDB',
    ])
  }
  const path = config.DATABASE_URL === undefined ? getDatabasePath(config.DATA_DIR) : null
  const isNew = path !== null && !existsSync(path)
  const database = await openServiceDatabase(config)
  await rejectMirror(database)
  if (isNew) await setTimeZone(database, config.TIME_ZONE)
  const location = path === null ? 'PostgreSQL' : `${path}${isNew ? ' (new database)' : ''}`
  return { database, location, path }
}

/* Exit code 0: imported; 1: nothing imported, every error printed; 130: interrupted. */
const [file, ...others] = process.argv.slice(2)
printHelp(USAGE)
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
    const { database, ...store } = await openStore()
    const source =
      path === null ? process.stdin : createReadStream(path, { highWaterMark: 256 * 1024 })
    const result = await importOrders(database, source, {
      onRead: progress.onRead,
      onPhase(phase) {
        process.off('SIGINT', stop)
        progress.onPhase(phase)
      },
    })
    await database.close()
    return { ...store, result }
  } catch (error) {
    progress.clear()
    return fail(`Nothing was imported. ${formatError(error)}`)
  }
}

const startedAt = performance.now()
const { location, path: databasePath, result } = await runImport()
progress.clear()
if (!result.ok) fail(formatErrors(result.errors))
const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
// Showing the path reveals a wrong or missing DATA_DIR.
process.stdout.write(
  `${formatOrderCount(result.orders)} imported in ${seconds} s into ${location}.\n`,
)
// The write-ahead log has grown as large as the import.
if (databasePath !== null) await truncateLog(databasePath).catch(() => false)
