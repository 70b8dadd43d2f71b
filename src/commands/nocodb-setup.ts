import { CONFIG_PARTS } from '../config-parts.js'
import { createNocoDbClient, NocoDbError } from '../nocodb/nocodb-client.js'
import { getNocoDbSettings, nocoDbConfig, nocoDbSetUpConfig } from '../nocodb/nocodb-config.js'
import { setUpTable } from '../nocodb/table-schema.js'
import { describeError, fail, loadConfig } from './command.js'

// Continue if the reader closes the pipe early, e.g. `| head`.
process.stdout.on('error', () => undefined)
const print = (text: string): void => void process.stdout.write(`${text}\n`)

/** Errors of NocoDB get a short message, like those that `describeError` knows. */
function formatError(error: unknown): string {
  if (error instanceof NocoDbError) {
    const { status, code } = error
    const details = [status, code].filter((detail) => detail !== undefined)
    return `NocoDB setup failed: ${error.message}${details.length > 0 ? ` (${details.join(', ')})` : ''}.`
  }
  return describeError(error)
}

/* Creates the orders table in NocoDB or adds missing columns; prints the changes and the table ID. */
try {
  const others = CONFIG_PARTS.filter((part) => part !== nocoDbConfig)
  const parts = [...others, nocoDbSetUpConfig]
  const nocoDb = getNocoDbSettings(await loadConfig(parts))
  if (nocoDb === null) fail('NocoDB is not configured.')
  const client = createNocoDbClient(nocoDb)
  const { tableId, mismatches } = await setUpTable({ client, ...nocoDb, onProgress: print })
  await client.close()
  if (mismatches.length > 0) {
    const columns = mismatches.map(({ title, reason }) => `  ${title} ${reason}`).join('\n')
    fail(
      `Some columns of the table are invalid. Change them in NocoDB, or map other columns with NOCODB_COLUMNS:\n${columns}`,
    )
  }
  print('The table has all required columns.')
  print(`DATABASE_ORDERS_TABLE_ID=${tableId}`)
} catch (error) {
  fail(formatError(error))
}
