import { createNocoDbClient } from '../order-store/nocodb/nocodb-client.js'
import { NocoDbError } from '../order-store/nocodb/nocodb-error.js'
import { setUpTable } from '../order-store/nocodb/table-setup.js'
import { ConfigError } from '../config/config-error.js'
import { loadConfig } from './load-config.js'

function fail(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

// Whoever reads the first lines only wants the whole table all the same.
process.stdout.on('error', () => undefined)
const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** What an operator can mend gets a plain message; anything else is a fault of ours, with its stack. */
function explain(error: unknown): string {
  if (error instanceof ConfigError) return error.message
  if (error instanceof NocoDbError) {
    const { status, code } = error
    const details = [
      ...(status === undefined ? [] : [status]),
      ...(code === undefined ? [] : [code]),
    ]
    return `NocoDB was not set up: ${error.message}${details.length > 0 ? ` (${details.join(', ')})` : ''}.`
  }
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/*
 * Makes the table of orders in NocoDB, or adds what an existing one lacks; says what it did and
 * the id of the table.
 */
try {
  const { nocoDb } = await loadConfig({ isSetUp: true })
  if (nocoDb === null) fail('NocoDB is not configured.')
  const client = createNocoDbClient(nocoDb)
  const { tableId, misfits } = await setUpTable({ client, ...nocoDb, tell: say })
  await client.close()
  if (misfits.length > 0) {
    const columns = misfits.map(({ title, fault }) => `  ${title} ${fault}`).join('\n')
    fail(
      `The table does not fit. Change these columns in NocoDB, or name others in NOCODB_COLUMNS:\n${columns}`,
    )
  }
  say('The table has all columns that orders need.')
  say(`DATABASE_ORDERS_TABLE_ID=${tableId}`)
} catch (error) {
  fail(explain(error))
}
