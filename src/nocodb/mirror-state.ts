import { insertRows, type Database, type Queryable } from '../database/database.js'
import { DatabaseError } from '../database/open-database.js'
import type { ColumnTitles } from './columns.js'
import type { NocoDbSettings } from './nocodb-config.js'

/** What the database remembers of the NocoDB table that its orders mirror. */
export type MirrorState = Partial<Record<StateName, string>>

type StateName =
  /** The base and the table */
  | 'source'
  /** How rows are parsed, see FORMAT_VERSION */
  | 'format'
  /** The highest ID that the first load has read so far */
  | 'loaded_to'
  /** Set when the first load is finished */
  | 'loaded'
  /** When a row was last modified, by the clock of NocoDB's database, ms since 1970 */
  | 'touched'
  /** `yes` if all rows have to be read again, because the schema has been invalid */
  | 'misfit'
  /** `yes` if a write failed as it would with an invalid schema */
  | 'suspect'
  /** The mirror has all changes up to this time, ISO 8601 */
  | 'as_of'
  /** JSON: SyncReport */
  | 'report'

/** Increment this number when rows are parsed differently, so that they are read again. */
const FORMAT_VERSION = 1

/** Changes when the same row becomes another order. */
export const getFormat = (titles: ColumnTitles): string => JSON.stringify([FORMAT_VERSION, titles])

export async function readState(tx: Queryable): Promise<MirrorState> {
  const rows = await tx.query<{ name: string; value: string }>('SELECT * FROM nocodb_state')
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

export const writeState = (tx: Queryable, changes: MirrorState): Promise<void> =>
  insertRows(
    tx,
    'nocodb_state',
    ['name', 'value'],
    Object.entries(changes).map(([name, value]) => ({ name, value })),
    { after: 'ON CONFLICT (name) DO UPDATE SET value = excluded.value' },
  )

const hasOrders = async (tx: Queryable): Promise<boolean> =>
  (await tx.query('SELECT 1 FROM orders LIMIT 1')).length > 0

/**
 * Makes the orders of a database mirror a NocoDB table. Throws DatabaseError, and changes nothing,
 * if the database has other orders.
 */
export async function claimDatabase(
  database: Database,
  { baseId, tableId, titles }: Pick<NocoDbSettings, 'baseId' | 'tableId' | 'titles'>,
): Promise<void> {
  const source = `base ${baseId}, table ${tableId}`
  const format = getFormat(titles)
  await database.write(async (tx) => {
    const state = await readState(tx)
    if (state.source === undefined && (await hasOrders(tx))) {
      throw new DatabaseError(
        'the database has orders of its own, so it cannot be used for the orders in NocoDB. Set another DATA_DIR or DATABASE_URL for these, or remove the NocoDB variables.',
      )
    }
    if ((state.source ?? source) !== source) {
      throw new DatabaseError(
        `the database has the orders of another table in NocoDB: ${state.source}. Set another DATA_DIR or DATABASE_URL for the orders of ${source}, or set DATABASE_BASE_ID and DATABASE_ORDERS_TABLE_ID back.`,
      )
    }
    if (state.source === undefined) await writeState(tx, { source, format })
    else if (state.format !== format) await writeState(tx, { format, misfit: 'yes' })
  })
}

/** Throws DatabaseError if the orders of a database mirror a NocoDB table. */
export async function rejectMirror(database: Database): Promise<void> {
  const { source } = await readState(database)
  if (source === undefined) return
  throw new DatabaseError(
    `the database has the orders of a table in NocoDB: ${source}. Set the NocoDB variables back, or set another DATA_DIR or DATABASE_URL for other orders.`,
  )
}
