import type { Database } from 'better-sqlite3'
import type { Order, HistoryEntry } from '../../orders/order.js'
import { parseOrderId } from '../../orders/order-id.js'
import { ROW_COLUMNS, toOrderRow } from './order-row.js'
import { toSearchText } from './search-text.js'

/** An order that may be without what the store gives. */
export type StagedOrder = Omit<Order, 'id' | 'orderNumber'> & {
  id: string | null
  orderNumber: string | null
}

/** What an order and one before it, or one in the store, both claim. */
export interface ImportConflict {
  /** Line of the later one */
  line: number
  field: 'id' | 'orderNumber'
  /** Whose it is */
  owner: { line: number } | { id: number; orderNumber: string }
}

/*
 * Temporary tables lie in a file of this connection alone, so staging takes no memory and no
 * lock of the store, and what is left unfinished vanishes with the process.
 */
const TABLES = `
  CREATE TEMP TABLE staged_orders (line INTEGER PRIMARY KEY, text, ${ROW_COLUMNS.join(', ')});
  CREATE TEMP TABLE staged_changes (line INTEGER, version, at, by, changes);
  CREATE TEMP TABLE staged_ids (id INTEGER PRIMARY KEY, line INTEGER NOT NULL);
  CREATE TEMP TABLE staged_numbers (
    order_number TEXT PRIMARY KEY, line INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TEMP VIEW taken_numbers AS
    SELECT order_number FROM main.orders UNION ALL SELECT order_number FROM temp.staged_numbers`

const CLASHES = `
  SELECT line, 'id' AS field, orders.id, orders.order_number
    FROM temp.staged_ids CROSS JOIN orders USING (id)
  UNION ALL
  SELECT line, 'orderNumber', orders.id, orders.order_number
    FROM temp.staged_numbers CROSS JOIN orders USING (order_number)`

/** What an order may be without, and what comes of it. */
const GIVEN_LATER = ['id', 'order_number', 'order_number_key'] as const
const OTHERS = ROW_COLUMNS.filter((name) => !GIVEN_LATER.some((later) => later === name))
const STAGED_COLUMNS = ['line', 'text', ...GIVEN_LATER, ...OTHERS]

type Value = string | number | null

function stagedValues(line: number, staged: StagedOrder, by: string): Value[] {
  const { id, orderNumber } = staged
  const order = { ...staged, id: id ?? '', orderNumber: orderNumber ?? '' }
  const row = toOrderRow(order, by)
  return [
    line,
    orderNumber === null ? null : toSearchText(order),
    id === null ? null : row.id,
    orderNumber,
    orderNumber === null ? null : row.order_number_key,
    ...OTHERS.map((name) => row[name]),
  ]
}

/** Gathers orders beside a store, to be entered into it all at once. One for each connection. */
export function openStagedOrders(db: Database) {
  db.pragma('temp_store = FILE')
  db.exec(TABLES)
  const insert = db.prepare<Value[]>(
    `INSERT INTO temp.staged_orders (${STAGED_COLUMNS.join(', ')})
     VALUES (${STAGED_COLUMNS.map(() => '?').join(', ')})`,
  )
  const insertChange = db.prepare<[number, number, number, string, string]>(
    'INSERT INTO temp.staged_changes VALUES (?, ?, ?, ?, ?)',
  )
  const claimId = db.prepare<[number, number]>(
    'INSERT OR IGNORE INTO temp.staged_ids VALUES (?, ?)',
  )
  const claimNumber = db.prepare<[string, number]>(
    'INSERT OR IGNORE INTO temp.staged_numbers VALUES (?, ?)',
  )
  const ownerOfId = db
    .prepare<[number], number>('SELECT line FROM temp.staged_ids WHERE id = ?')
    .pluck()
  const ownerOfNumber = db
    .prepare<[string], number>('SELECT line FROM temp.staged_numbers WHERE order_number = ?')
    .pluck()
  const clashes = db.prepare<
    [number],
    { line: number; field: ImportConflict['field']; id: number; order_number: string }
  >(`${CLASHES} ORDER BY line LIMIT ?`)
  const countClashes = db.prepare<[], number>(`SELECT count(*) FROM (${CLASHES})`).pluck()

  /** One transaction for all of it, of the temporary file alone: each has a cost of its own. */
  function begin(): void {
    if (!db.inTransaction) db.exec('BEGIN')
  }
  let staged = 0

  return {
    /** Claims an id and an order number for a line; tells which of them a line before has. */
    claim(line: number, id: string | null, orderNumber: string | null): ImportConflict[] {
      begin()
      const found: ImportConflict[] = []
      const key = id === null ? null : parseOrderId(id)
      if (key !== null && claimId.run(key, line).changes === 0) {
        found.push({ line, field: 'id', owner: { line: ownerOfId.get(key) ?? 0 } })
      }
      if (orderNumber !== null && claimNumber.run(orderNumber, line).changes === 0) {
        const owner = { line: ownerOfNumber.get(orderNumber) ?? 0 }
        found.push({ line, field: 'orderNumber', owner })
      }
      return found
    },
    /** Puts an order by. Its history leaves out its first entry, which is by `by`. */
    add(line: number, order: StagedOrder, by: string, history: HistoryEntry[] = []): void {
      begin()
      insert.run(...stagedValues(line, order, by))
      for (const entry of history) {
        const { version, at, changes } = entry
        insertChange.run(line, version, Date.parse(at), entry.by, JSON.stringify(changes))
      }
      staged++
    },
    /** Ends the gathering; tells how many there are. */
    finish(): number {
      if (db.inTransaction) db.exec('COMMIT')
      return staged
    },
    /** The first so many lines that claim what an order in the store has, and how many there are. */
    clashesWithBook(most: number): { first: ImportConflict[]; total: number } {
      const first = clashes.all(most).map(({ line, field, id, order_number }) => ({
        line,
        field,
        owner: { id, orderNumber: order_number },
      }))
      return { first, total: countClashes.get() ?? 0 }
    },
  }
}

export type StagedOrders = ReturnType<typeof openStagedOrders>
