import type { Database } from 'better-sqlite3'
import { parseOrderId } from '../../order-id.js'
import type { HistoryEntry, Order } from '../../order.js'
import { summarizeLatestAttempt } from './order-records.js'
import { ROW_COLUMNS, toOrderRow } from '../sql/order-row.js'
import { toSearchText } from '../sql/search-text.js'

/** An order to import. If its ID or order number is `null`, the import assigns one. */
export type StagedOrder = Omit<Order, 'id' | 'orderNumber'> & {
  id: string | null
  orderNumber: string | null
}

/** An ID or order number that an earlier line or an existing order already has. */
export interface ImportConflict {
  /** The later line */
  line: number
  field: 'id' | 'orderNumber'
  owner: { line: number } | { id: number; orderNumber: string }
}

export interface ImportConflicts {
  /** The first conflicts, by line */
  first: ImportConflict[]
  total: number
}

/*
 * Temporary tables are kept in a file that belongs to this connection, so staging needs little
 * memory, does not lock the order database, and leaves nothing behind if the process ends.
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

const CONFLICTS = `
  SELECT line, 'id' AS field, orders.id, orders.order_number
    FROM temp.staged_ids CROSS JOIN orders USING (id)
  UNION ALL
  SELECT line, 'orderNumber', orders.id, orders.order_number
    FROM temp.staged_numbers CROSS JOIN orders USING (order_number)`

/** Columns that the import can assign. */
const ASSIGNED_COLUMNS = ['id', 'order_number', 'order_number_key'] as const
const OTHER_COLUMNS = ROW_COLUMNS.filter(
  (name) => !ASSIGNED_COLUMNS.some((assigned) => assigned === name),
)
const STAGED_COLUMNS = ['line', 'text', ...ASSIGNED_COLUMNS, ...OTHER_COLUMNS]

type Value = string | number | null

function toStagedValues(
  line: number,
  staged: StagedOrder,
  by: string,
  history: HistoryEntry[],
): Value[] {
  const { id, orderNumber } = staged
  const order = { ...staged, id: id ?? '', orderNumber: orderNumber ?? '' }
  const row = toOrderRow(order, by, summarizeLatestAttempt(history))
  return [
    line,
    orderNumber === null ? null : toSearchText(order),
    id === null ? null : row.id,
    orderNumber,
    orderNumber === null ? null : row.order_number_key,
    ...OTHER_COLUMNS.map((name) => row[name]),
  ]
}

/** Collects the orders of one import in temporary tables. */
export function openStagedOrders(db: Database) {
  db.pragma('temp_store = FILE')
  db.exec(TABLES)
  const insertOrder = db.prepare<Value[]>(
    `INSERT INTO temp.staged_orders (${STAGED_COLUMNS.join(', ')})
     VALUES (${STAGED_COLUMNS.map(() => '?').join(', ')})`,
  )
  const insertChange = db.prepare<[number, number, number, string, string]>(
    'INSERT INTO temp.staged_changes VALUES (?, ?, ?, ?, ?)',
  )
  const insertId = db.prepare<[number, number]>(
    'INSERT OR IGNORE INTO temp.staged_ids VALUES (?, ?)',
  )
  const insertNumber = db.prepare<[string, number]>(
    'INSERT OR IGNORE INTO temp.staged_numbers VALUES (?, ?)',
  )
  const lineOfId = db
    .prepare<[number], number>('SELECT line FROM temp.staged_ids WHERE id = ?')
    .pluck()
  const lineOfNumber = db
    .prepare<[string], number>('SELECT line FROM temp.staged_numbers WHERE order_number = ?')
    .pluck()
  const selectConflicts = db.prepare<
    [number],
    { line: number; field: ImportConflict['field']; id: number; order_number: string }
  >(`${CONFLICTS} ORDER BY line LIMIT ?`)
  const countConflicts = db.prepare<[], number>(`SELECT count(*) FROM (${CONFLICTS})`).pluck()

  /** Uses one transaction for all rows, because each transaction has a fixed cost. */
  function begin(): void {
    if (!db.inTransaction) db.exec('BEGIN')
  }
  let stagedCount = 0

  return {
    /** Reserves an ID and an order number for a line; returns conflicts with earlier lines. */
    claim(line: number, id: string | null, orderNumber: string | null): ImportConflict[] {
      begin()
      const conflicts: ImportConflict[] = []
      const key = id === null ? null : parseOrderId(id)
      if (key !== null && insertId.run(key, line).changes === 0) {
        conflicts.push({ line, field: 'id', owner: { line: lineOfId.get(key) ?? 0 } })
      }
      if (orderNumber !== null && insertNumber.run(orderNumber, line).changes === 0) {
        const owner = { line: lineOfNumber.get(orderNumber) ?? 0 }
        conflicts.push({ line, field: 'orderNumber', owner })
      }
      return conflicts
    },
    /**
     * @param by creator of the order
     * @param history oldest first, excluding the creation of the order
     */
    add(line: number, order: StagedOrder, by: string, history: HistoryEntry[] = []): void {
      begin()
      insertOrder.run(...toStagedValues(line, order, by, history))
      for (const entry of history) {
        const { version, at, changes } = entry
        insertChange.run(line, version, Date.parse(at), entry.by, JSON.stringify(changes))
      }
      stagedCount++
    },
    /** Completes staging; returns the number of orders. */
    finish(): number {
      if (db.inTransaction) db.exec('COMMIT')
      return stagedCount
    },
    /** Finds conflicts with existing orders. */
    findConflicts(max: number): ImportConflicts {
      const first = selectConflicts.all(max).map(({ line, field, id, order_number }) => ({
        line,
        field,
        owner: { id, orderNumber: order_number },
      }))
      return { first, total: countConflicts.get() ?? 0 }
    },
  }
}

export type StagedOrders = ReturnType<typeof openStagedOrders>
