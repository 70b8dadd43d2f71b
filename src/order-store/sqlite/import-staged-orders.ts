import type { Database } from 'better-sqlite3'
import { withoutIndexes } from './without-indexes.js'
import { getHighestOrderNumber, createOrderNumbers } from './order-numbers.js'
import { ROW_COLUMNS, type OrderRow } from './order-row.js'
import { createAggregateWriter, type AggregatedRow } from './aggregates.js'
import { toOrderNumberKey, toSearchText } from './search-text.js'
import { openStoreCalendar } from './settings.js'
import type { ImportConflict, StagedOrders } from './staged-orders.js'

export type ImportResult =
  | { outcome: 'entered'; orders: number }
  | { outcome: 'clashes'; first: ImportConflict[]; total: number }

interface Options {
  /** So many clashes are told of one by one */
  mostClashes: number
  /** Is told what is being done, in words */
  onPhase?: (phase: string) => void
}

/** Where a store of a million orders grows by this share, making indexes anew begins to be faster. */
const BULK_GROWTH = 1 / 2

/** Rows read at once, as nothing can be written while a statement is being read from. */
const BATCH = 1_000

const integer = (db: Database, sql: string): number =>
  db.prepare<[], number>(sql).pluck().get() ?? 0

/** Gives the next ids to the orders that have none, as their lines follow each other. */
function giveIds(db: Database, last: number): void {
  db.prepare(
    `UPDATE temp.staged_orders SET id = ? + place FROM (
       SELECT line AS unnamed, row_number() OVER (ORDER BY line) AS place
       FROM temp.staged_orders WHERE id IS NULL
     ) WHERE line = unnamed`,
  ).run(last)
}

type Unnumbered = Pick<
  OrderRow,
  'customer_name' | 'customer_email' | 'vessel_name' | 'imo_number'
> & { line: number }

function* unnumbered(db: Database): Generator<Unnumbered> {
  const after = db.prepare<[number], Unnumbered>(
    `SELECT line, customer_name, customer_email, vessel_name, imo_number FROM temp.staged_orders
     WHERE line > ? AND order_number IS NULL ORDER BY line LIMIT ${BATCH}`,
  )
  let last = 0
  for (;;) {
    const rows = after.all(last)
    if (rows.length === 0) return
    yield* rows
    last = rows.at(-1)?.line ?? last
  }
}

/**
 * Gives order numbers to the orders that have none, as their lines follow each other: higher ones
 * than the others have, so that these are never between, nor in the way of later ones.
 */
function giveNumbers(db: Database): void {
  const given = getHighestOrderNumber(db, 'temp.staged_numbers')
  const numbers = createOrderNumbers(db, 'temp.taken_numbers').series(given)
  const give = db.prepare<[string, string, string, number]>(
    'UPDATE temp.staged_orders SET order_number = ?, order_number_key = ?, text = ? WHERE line = ?',
  )
  for (const row of unnumbered(db)) {
    const orderNumber = numbers.next()
    const text = toSearchText({
      orderNumber,
      customerName: row.customer_name,
      customerEmail: row.customer_email,
      vesselName: row.vessel_name,
      imoNumber: row.imo_number,
    })
    give.run(orderNumber, toOrderNumberKey(orderNumber), text, row.line)
  }
  numbers.close()
}

const COLUMNS = ROW_COLUMNS.join(', ')

// The full-text index writes what it has gathered wherever an id is not above the one before.
const COPY_ORDERS = `
  INSERT INTO orders (${COLUMNS}) SELECT ${COLUMNS} FROM temp.staged_orders ORDER BY id`
const COPY_TEXTS = `
  INSERT INTO search_texts SELECT id, text FROM temp.staged_orders ORDER BY id`
const INDEX_TEXTS = `
  INSERT INTO search_index (rowid, text) SELECT id, text FROM temp.staged_orders ORDER BY id`
const COPY_CHANGES = `
  INSERT INTO changes SELECT id, changed.version, at, by, changes
  FROM temp.staged_changes AS changed JOIN temp.staged_orders USING (line)`

/**
 * Moves all staged orders into their store, with their search texts, sums and history: in one
 * transaction, all or none. Readers go on meanwhile; other writers wait.
 */
export function importStagedOrders(
  db: Database,
  staged: StagedOrders,
  { mostClashes, onPhase = () => undefined }: Options,
): ImportResult {
  const orders = staged.finish()
  const enter = db.transaction((): ImportResult => {
    onPhase('looking for what is in the store already')
    const clashes = staged.clashesWithBook(mostClashes)
    if (clashes.total > 0) return { outcome: 'clashes', ...clashes }

    const lastId = Math.max(
      integer(db, 'SELECT max(id) FROM orders'),
      integer(db, 'SELECT max(id) FROM temp.staged_ids'),
    )
    giveIds(db, lastId)
    giveNumbers(db)

    // First, while little else is in memory.
    onPhase('adding up')
    const rolledUp = db.prepare<[], AggregatedRow>(
      `SELECT status, calculator_type, currency, co2e_kg, amount_minor, placed_at
       FROM temp.staged_orders`,
    )
    createAggregateWriter(db, openStoreCalendar(db)).addAll(rolledUp.iterate())

    const before = integer(db, 'SELECT count(*) FROM orders')
    onPhase('copying orders')
    if (orders < before * BULK_GROWTH) db.exec(COPY_ORDERS)
    else {
      withoutIndexes(
        db,
        () => db.exec(COPY_ORDERS),
        (place, of) => onPhase(`making index ${place} of ${of}`),
      )
    }
    onPhase('indexing for the search')
    db.exec(COPY_TEXTS)
    db.exec(INDEX_TEXTS)
    db.exec(COPY_CHANGES)
    onPhase('writing to disk')
    return { outcome: 'entered', orders }
  })
  return enter.immediate()
}
