import type { Database } from 'better-sqlite3'
import type { DayCalendar } from '../../../core/formatting/day-calendar.js'
import { summarizeAttempt, type AttemptSummary } from '../../attempt.js'
import { toErasedChanges } from '../../erasure.js'
import type { FieldChange, HistoryEntry, Order } from '../../order.js'
import { TotalsSum } from '../totals.js'
import { addTotals } from './aggregates.js'
import {
  formatTime,
  READ_COLUMNS,
  ROW_COLUMNS,
  toOrder,
  toOrderRow,
  type OrderRow,
  type ReadRow,
} from '../sql/order-row.js'
import {
  SELECT_EVENT_ORDERS,
  toErasedEvents,
  UPDATE_EVENT_ORDER,
  type EventRow,
} from '../sql/order-events.js'
import { toSearchText } from '../sql/search-text.js'

/** An order from another system, with its history. */
export interface ReplicatedOrder {
  order: Order
  /** User who created the order */
  by: string
  /** Oldest first, excluding the creation of the order */
  history: HistoryEntry[]
}

const INSERT = `INSERT INTO orders (${ROW_COLUMNS.join(', ')})
  VALUES (${ROW_COLUMNS.map((name) => `@${name}`).join(', ')})`

const UPDATED_COLUMNS = ROW_COLUMNS.filter(
  (name) => !['id', 'placed_at', 'created_at', 'created_by', 'attempt'].includes(name),
)
const UPDATE = `UPDATE orders
  SET ${UPDATED_COLUMNS.map((name) => `${name} = @${name}`).join(', ')} WHERE id = @id`

function createOrderGetter(db: Database) {
  const select = db
    .prepare<[number], ReadRow>(`SELECT ${READ_COLUMNS} FROM orders WHERE id = ?`)
    .raw()
  return (id: number): Order | null => {
    const row = select.get(id)
    return row === undefined ? null : toOrder(row)
  }
}

/** @param history oldest first */
export const summarizeLatestAttempt = (history: readonly HistoryEntry[]): AttemptSummary | null =>
  history.reduce<AttemptSummary | null>(
    (latest, { changes }) => summarizeAttempt(changes) ?? latest,
    null,
  )

/** Writes orders with their search text, aggregates and history, in the caller's transaction. */
export function createOrderWriter(db: Database, calendar: DayCalendar) {
  function changeTotals(added: OrderRow[], removed: OrderRow[] = []): void {
    const sum = new TotalsSum(calendar)
    for (const row of removed) sum.add(row, -1)
    for (const row of added) sum.add(row)
    addTotals(db, sum)
  }
  const selectRow = db.prepare<[number], OrderRow>('SELECT * FROM orders WHERE id = ?')
  const insertRow = db.prepare<OrderRow>(INSERT)
  const updateRow = db.prepare<OrderRow>(UPDATE)
  const deleteRow = db.prepare<[number]>('DELETE FROM orders WHERE id = ?')
  const insertText = db.prepare<[number, string]>('INSERT INTO search_texts VALUES (?, ?)')
  const selectText = db
    .prepare<[number], string>('SELECT text FROM search_texts WHERE id = ?')
    .pluck()
  const updateText = db.prepare<[string, number]>('UPDATE search_texts SET text = ? WHERE id = ?')
  const deleteText = db.prepare<[number]>('DELETE FROM search_texts WHERE id = ?')
  const addToIndex = db.prepare<[number, string]>(
    'INSERT INTO search_index (rowid, text) VALUES (?, ?)',
  )
  const removeFromIndex = db.prepare<[number, string]>(
    "INSERT INTO search_index (search_index, rowid, text) VALUES ('delete', ?, ?)",
  )
  const insertChange = db.prepare<[number, number, number, string, string]>(
    'INSERT INTO changes VALUES (?, ?, ?, ?, ?)',
  )
  const updateAttempt = db.prepare<[string, number]>('UPDATE orders SET attempt = ? WHERE id = ?')
  const deleteChanges = db.prepare<[number]>('DELETE FROM changes WHERE order_id = ?')
  const selectChanges = db.prepare<[number], Pick<ChangeRow, 'version' | 'changes'>>(
    'SELECT version, changes FROM changes WHERE order_id = ?',
  )
  const updateChanges = db.prepare<[string, number, number]>(
    'UPDATE changes SET changes = ? WHERE order_id = ? AND version = ?',
  )
  const selectEventOrders = db.prepare<[], Pick<EventRow, 'id' | 'order_data'>>(SELECT_EVENT_ORDERS)
  const updateEventOrder = db.prepare<[string, number]>(UPDATE_EVENT_ORDER)

  function insertOrder(order: Order, by: string, attempt: AttemptSummary | null): OrderRow {
    const row = toOrderRow(order, by, attempt)
    const text = toSearchText(order)
    insertRow.run(row)
    insertText.run(row.id, text)
    addToIndex.run(row.id, text)
    return row
  }

  return {
    get: createOrderGetter(db),
    add(order: Order, by: string): void {
      changeTotals([insertOrder(order, by, null)])
    },
    addReplicated(orders: ReplicatedOrder[]): void {
      const rows = orders.map(({ order, by, history }) => {
        const row = insertOrder(order, by, summarizeLatestAttempt(history))
        for (const { version, at, by: changedBy, changes } of history) {
          insertChange.run(row.id, version, Date.parse(at), changedBy, JSON.stringify(changes))
        }
        return row
      })
      changeTotals(rows)
    },
    /** Deletes an order; returns whether it existed. */
    remove(id: number): boolean {
      const row = selectRow.get(id)
      if (row === undefined) return false
      removeFromIndex.run(id, selectText.get(id) ?? '')
      deleteText.run(id)
      deleteChanges.run(id)
      deleteRow.run(id)
      changeTotals([], [row])
      return true
    },
    /** Replaces an order with its next version. */
    replace(before: Order, after: Order, by: string, changes: FieldChange[]): void {
      const [oldRow, row] = [toOrderRow(before, by), toOrderRow(after, by)]
      updateRow.run(row)
      // As it was stored, perhaps by an earlier version; the index needs exactly this text.
      const [oldText, text] = [selectText.get(row.id) ?? '', toSearchText(after)]
      if (text !== oldText) {
        removeFromIndex.run(row.id, oldText)
        addToIndex.run(row.id, text)
        updateText.run(text, row.id)
      }
      changeTotals([row], [oldRow])
      insertChange.run(row.id, after.version, row.updated_at, by, JSON.stringify(changes))
      const attempt = summarizeAttempt(changes)
      if (attempt !== null) updateAttempt.run(JSON.stringify(attempt), row.id)
    },
    /** Erases personal data from the history of an order. */
    eraseHistory(id: number): void {
      for (const { version, changes } of selectChanges.all(id)) {
        const erased = toErasedChanges(JSON.parse(changes) as FieldChange[])
        updateChanges.run(JSON.stringify(erased), id, version)
      }
    },
    /** Erases personal data from the undispatched events of an order. */
    eraseEvents(id: number): void {
      for (const values of toErasedEvents(selectEventOrders.all(), String(id))) {
        updateEventOrder.run(...values)
      }
    },
  }
}

interface ChangeRow {
  version: number
  at: number
  by: string
  changes: string
}

/** Reads orders and their history by ID. */
export function createOrderReader(db: Database) {
  const selectMany = db
    .prepare<[string], ReadRow>(
      `SELECT ${READ_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN orders ON orders.id = wanted.value`,
    )
    .raw()
  const selectChanges = db.prepare<[number], ChangeRow>(
    'SELECT version, at, by, changes FROM changes WHERE order_id = ? ORDER BY version DESC',
  )
  const selectCreation = db.prepare<[number], Omit<ChangeRow, 'changes'>>(
    'SELECT version, created_at AS at, created_by AS by FROM orders WHERE id = ?',
  )

  return {
    get: createOrderGetter(db),
    /** Returns the existing orders, in the order of `ids`. */
    getMany: (ids: number[]): Order[] => selectMany.all(JSON.stringify(ids)).map(toOrder),
    /** Newest first, ending with the creation; `null` if the order does not exist. */
    getHistory(id: number): HistoryEntry[] | null {
      const creation = selectCreation.get(id)
      if (creation === undefined) return null
      const entries = selectChanges.all(id).map(({ at, by, version, changes }) => ({
        at: formatTime(at),
        by,
        version,
        changes: JSON.parse(changes) as FieldChange[],
      }))
      // The first version of an imported order can be higher than 1.
      const version = (entries.at(-1)?.version ?? creation.version + 1) - 1
      return [...entries, { at: formatTime(creation.at), by: creation.by, version, changes: [] }]
    },
  }
}
