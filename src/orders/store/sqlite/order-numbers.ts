import type { Database } from 'better-sqlite3'
import { MAX_IMPORTED_ID } from '../../order-id.js'
import { formatOrderNumber, ORDER_NUMBER_PREFIX } from '../../order-number.js'
import { readSetting, writeSetting } from './settings.js'

const DIGITS = `substr(order_number, ${ORDER_NUMBER_PREFIX.length + 1})`

/**
 * Returns the highest order number of a table, as an integer; 0 if there is none. Ignores numbers
 * that are not in the format CW-000042, and numbers above MAX_IMPORTED_ID, because another system
 * must have assigned them.
 */
export const getHighestOrderNumber = (db: Database, table: string): number =>
  db
    .prepare<[number], number>(
      `SELECT coalesce(max(number), 0) FROM (
         SELECT CAST(${DIGITS} AS INTEGER) AS number FROM ${table}
         WHERE order_number GLOB '${ORDER_NUMBER_PREFIX}[0-9]*' AND ${DIGITS} NOT GLOB '*[^0-9]*'
       ) WHERE number <= ?`,
    )
    .pluck()
    .get(MAX_IMPORTED_ID) ?? 0

/**
 * Assigns order numbers, within the caller's transaction. The database stores the next number. It
 * is higher than all assigned and imported numbers in the format CW-000042, except numbers above
 * MAX_IMPORTED_ID.
 *
 * @param table table or view with the `order_number`s in use
 */
export function createOrderNumbers(db: Database, table = 'orders') {
  const isTaken = db.prepare<[string], 1>(`SELECT 1 FROM ${table} WHERE order_number = ?`).pluck()

  /** Starts a series of numbers that are higher than `above`; `close` stores the next number. */
  function startSeries(above = 0) {
    let number = Math.max(Number(readSetting(db, 'next_order_number')), above + 1)
    return {
      next(): string {
        // Imported numbers above MAX_IMPORTED_ID can still collide.
        while (isTaken.get(formatOrderNumber(number)) !== undefined) number++
        return formatOrderNumber(number++)
      },
      close: (): void => writeSetting(db, 'next_order_number', String(number)),
    }
  }

  return {
    next(): string {
      const series = startSeries()
      const orderNumber = series.next()
      series.close()
      return orderNumber
    },
    startSeries,
  }
}
