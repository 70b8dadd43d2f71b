import type { Database } from 'better-sqlite3'
import type { FieldChange, Order } from '../../orders/order.js'
import type { DayCalendar } from '../../orders/day-calendar.js'
import {
  toOrder,
  READ_COLUMNS,
  ROW_COLUMNS,
  toOrderRow,
  type OrderRow,
  type ReadRow,
} from './order-row.js'
import { createAggregateWriter } from './aggregates.js'
import { toSearchText } from './search-text.js'

/** An entry of an order's history. */
export interface HistoryEntry {
  at: string
  by: string
  version: number
  changes: FieldChange[]
}

/** An order of another store, as a store holds a copy of it. */
export interface ReplicatedOrder {
  order: Order
  /** Who entered it */
  by: string
  history: HistoryEntry[]
}

const INSERT = `INSERT INTO orders (${ROW_COLUMNS.join(', ')})
  VALUES (${ROW_COLUMNS.map((name) => `@${name}`).join(', ')})`

/** What an edit may touch; the rest of a record stays as it was made. */
const EDITED = ROW_COLUMNS.filter(
  (name) => !['id', 'placed_at', 'created_at', 'created_by'].includes(name),
)
const UPDATE = `UPDATE orders SET ${EDITED.map((name) => `${name} = @${name}`).join(', ')} WHERE id = @id`

const readById = (db: Database) =>
  db.prepare<[number], ReadRow>(`SELECT ${READ_COLUMNS} FROM orders WHERE id = ?`).raw()

/**
 * Orders with all that hangs on them: search text, sums, history. All of it runs within the
 * caller's transaction, so that they never part.
 */
export function createOrderWriter(db: Database, calendar: DayCalendar) {
  const rollUps = createAggregateWriter(db, calendar)
  const one = readById(db)
  const select = db.prepare<[number], OrderRow>(`SELECT * FROM orders WHERE id = ?`)
  const insert = db.prepare<OrderRow>(INSERT)
  const update = db.prepare<OrderRow>(UPDATE)
  const addText = db.prepare<[number, string]>('INSERT INTO search_texts VALUES (?, ?)')
  const addIndexed = db.prepare<[number, string]>(
    'INSERT INTO search_index (rowid, text) VALUES (?, ?)',
  )
  const changeText = db.prepare<[string, number]>('UPDATE search_texts SET text = ? WHERE id = ?')
  const removeIndexed = db.prepare<[number, string]>(
    "INSERT INTO search_index (search_index, rowid, text) VALUES ('delete', ?, ?)",
  )
  const drop = db.prepare<[number]>('DELETE FROM orders WHERE id = ?')
  const textOf = db.prepare<[number], string>('SELECT text FROM search_texts WHERE id = ?').pluck()
  const dropText = db.prepare<[number]>('DELETE FROM search_texts WHERE id = ?')
  const dropChanges = db.prepare<[number]>('DELETE FROM changes WHERE order_id = ?')
  const addChange = db.prepare<[number, number, number, string, string]>(
    'INSERT INTO changes VALUES (?, ?, ?, ?, ?)',
  )

  function insertOrder(order: Order, by: string): OrderRow {
    const row = toOrderRow(order, by)
    const text = toSearchText(order)
    insert.run(row)
    addText.run(row.id, text)
    addIndexed.run(row.id, text)
    return row
  }

  return {
    /** The order as it is now; `null` where there is none. */
    get(id: number): Order | null {
      const row = one.get(id)
      return row === undefined ? null : toOrder(row)
    },
    /** Enters an order. */
    add(order: Order, by: string): void {
      rollUps.add(insertOrder(order, by))
    },
    /** Enters many orders with what became of them, newest last: a copy of another store's. */
    addCopies(copies: ReplicatedOrder[]): void {
      const rows = copies.map(({ order, by, history }) => {
        const row = insertOrder(order, by)
        for (const { version, at, by: changer, changes } of history) {
          addChange.run(row.id, version, Date.parse(at), changer, JSON.stringify(changes))
        }
        return row
      })
      rollUps.addAll(rows)
    },
    /** Takes an order out with all that hangs on it; tells whether there was one. */
    remove(id: number): boolean {
      const row = select.get(id)
      if (row === undefined) return false
      removeIndexed.run(id, textOf.get(id) ?? '')
      dropText.run(id)
      dropChanges.run(id)
      drop.run(id)
      rollUps.remove(row)
      return true
    },
    /** Puts the next version of an order in the place of the one before. */
    replace(before: Order, after: Order, by: string, changes: FieldChange[]): void {
      const [old, row] = [toOrderRow(before, by), toOrderRow(after, by)]
      update.run(row)
      const [oldText, text] = [toSearchText(before), toSearchText(after)]
      if (text !== oldText) {
        removeIndexed.run(row.id, oldText)
        addIndexed.run(row.id, text)
        changeText.run(text, row.id)
      }
      rollUps.remove(old)
      rollUps.add(row)
      addChange.run(row.id, after.version, row.updated_at, by, JSON.stringify(changes))
    },
  }
}

interface ChangeRow {
  version: number
  at: number
  by: string
  changes: string
}

/** Reads orders and their history by id. */
export function createOrderReader(db: Database) {
  const one = readById(db)
  const some = db
    .prepare<[string], ReadRow>(
      `SELECT ${READ_COLUMNS} FROM json_each(?) AS wanted CROSS JOIN orders ON orders.id = wanted.value`,
    )
    .raw()
  const changes = db.prepare<[number], ChangeRow>(
    'SELECT version, at, by, changes FROM changes WHERE order_id = ? ORDER BY version DESC',
  )
  const entered = db.prepare<[number], Pick<ChangeRow, 'version' | 'at' | 'by'>>(
    'SELECT version, created_at AS at, created_by AS by FROM orders WHERE id = ?',
  )
  const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

  return {
    get(id: number): Order | null {
      const row = one.get(id)
      return row === undefined ? null : toOrder(row)
    },
    /** The orders there are of some ids, in the order of the ids. */
    some: (ids: number[]): Order[] => some.all(JSON.stringify(ids)).map(toOrder),
    /** Newest first; the last entry is the order's first. `null` where there is no such order. */
    history(id: number): HistoryEntry[] | null {
      const first = entered.get(id)
      if (first === undefined) return null
      const entries = changes.all(id).map((row) => ({
        at: isoTime(row.at),
        by: row.by,
        version: row.version,
        changes: JSON.parse(row.changes) as FieldChange[],
      }))
      // What was imported may have begun at a later version than the first.
      const version = (entries.at(-1)?.version ?? first.version + 1) - 1
      return [...entries, { at: isoTime(first.at), by: first.by, version, changes: [] }]
    },
  }
}
