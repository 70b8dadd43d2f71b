import type { Database } from 'better-sqlite3'
import { TotalsSum, type CountedRow } from '../totals.js'
import { addTotals } from './aggregates.js'
import { createOrderNumbers, getHighestOrderNumber } from './order-numbers.js'
import { foldRow, ROW_COLUMNS, type OrderRow } from '../sql/order-row.js'
import { openStoreCalendar } from './settings.js'
import type { ImportConflicts, StagedOrders } from './staged-orders.js'
import { withoutIndexes } from './without-indexes.js'

export type ImportResult =
  { outcome: 'imported'; orders: number } | ({ outcome: 'conflicts' } & ImportConflicts)

interface Options {
  /** Maximum number of conflicts to return */
  maxConflicts: number
  /** Called with a description of each phase */
  onPhase?: (phase: string) => void
}

/**
 * If an import adds more than this share of the existing orders, recreating the indexes is faster
 * (in a database of a million orders).
 */
const MIN_GROWTH_WITHOUT_INDEXES = 1 / 2

/**
 * Rows are read in batches, because the connection cannot write while a statement is returning
 * rows.
 */
const BATCH_SIZE = 1_000

const selectInteger = (db: Database, sql: string): number =>
  db.prepare<[], number>(sql).pluck().get() ?? 0

/** Assigns IDs above `highestId` to the orders that have no ID, in line order. */
function assignIds(db: Database, highestId: number): void {
  db.prepare(
    `UPDATE temp.staged_orders SET id = ? + place FROM (
       SELECT line AS unnamed, row_number() OVER (ORDER BY line) AS place
       FROM temp.staged_orders WHERE id IS NULL
     ) WHERE line = unnamed`,
  ).run(highestId)
}

type UnnumberedRow = Pick<
  OrderRow,
  'customer_name' | 'customer_email' | 'vessel_name' | 'imo_number'
> & { line: number }

function* readUnnumbered(db: Database): Generator<UnnumberedRow> {
  const select = db.prepare<[number], UnnumberedRow>(
    `SELECT line, customer_name, customer_email, vessel_name, imo_number FROM temp.staged_orders
     WHERE line > ? AND order_number IS NULL ORDER BY line LIMIT ${BATCH_SIZE}`,
  )
  let lastLine = 0
  for (;;) {
    const rows = select.all(lastLine)
    if (rows.length === 0) return
    yield* rows
    lastLine = rows.at(-1)?.line ?? lastLine
  }
}

/**
 * Assigns order numbers to the orders that have no number, in line order. The new numbers do not
 * collide with existing or imported numbers.
 */
function assignOrderNumbers(db: Database): void {
  const highest = getHighestOrderNumber(db, 'temp.staged_numbers')
  const series = createOrderNumbers(db, 'temp.taken_numbers').startSeries(highest)
  const update = db.prepare<[string, string, string, number]>(
    'UPDATE temp.staged_orders SET order_number = ?, order_number_key = ?, text = ? WHERE line = ?',
  )
  for (const row of readUnnumbered(db)) {
    const orderNumber = series.next()
    const { order_number_key: key, text } = foldRow({ ...row, order_number: orderNumber })
    update.run(orderNumber, key, text, row.line)
  }
  series.close()
}

const COLUMNS = ROW_COLUMNS.join(', ')

// Sorted by ID, because the full-text index flushes its buffer whenever an ID is not higher than
// the previous ID.
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
 * Imports all staged orders, or none, in one transaction, with search texts, aggregates and
 * history. Meanwhile, other connections can read but not write.
 */
export function importStagedOrders(
  db: Database,
  staged: StagedOrders,
  { maxConflicts, onPhase = () => undefined }: Options,
): ImportResult {
  const orders = staged.finish()
  const runImport = db.transaction((): ImportResult => {
    onPhase('checking for conflicts')
    const conflicts = staged.findConflicts(maxConflicts)
    if (conflicts.total > 0) return { outcome: 'conflicts', ...conflicts }

    const highestId = Math.max(
      selectInteger(db, 'SELECT max(id) FROM orders'),
      selectInteger(db, 'SELECT max(id) FROM temp.staged_ids'),
    )
    assignIds(db, highestId)
    assignOrderNumbers(db)

    // Statistics are updated first, because copying the orders fills the cache.
    onPhase('updating statistics')
    const rows = db.prepare<[], CountedRow>(
      'SELECT status, currency, co2e_kg, amount_minor, placed_at FROM temp.staged_orders',
    )
    const sum = new TotalsSum(openStoreCalendar(db))
    for (const row of rows.iterate()) sum.add(row)
    addTotals(db, sum)

    const existing = selectInteger(db, 'SELECT count(*) FROM orders')
    onPhase('copying orders')
    if (orders < existing * MIN_GROWTH_WITHOUT_INDEXES) db.exec(COPY_ORDERS)
    else {
      withoutIndexes(
        db,
        () => db.exec(COPY_ORDERS),
        (position, count) => onPhase(`creating index ${position} of ${count}`),
      )
    }
    onPhase('updating the search index')
    db.exec(COPY_TEXTS)
    db.exec(INDEX_TEXTS)
    db.exec(COPY_CHANGES)
    onPhase('writing to disk')
    return { outcome: 'imported', orders }
  })
  return runImport.immediate()
}
