import type { Database } from 'better-sqlite3'
import { HIGHEST_IMPORTED_ID } from '../../orders/order-id.js'
import { readSetting, writeSetting } from './settings.js'

const PREFIX = 'CW-'
const FEWEST_DIGITS = 6

/** The order number that stands for a number. */
export const formatOrderNumber = (number: number): string =>
  `${PREFIX}${String(number).padStart(FEWEST_DIGITS, '0')}`

const DIGITS = `substr(order_number, ${PREFIX.length + 1})`

/**
 * The highest number of a table that is written as ours are; 0 where there is none. One beyond
 * any that the store comes to by itself is somebody else's, and does not count.
 */
export const getHighestOrderNumber = (db: Database, table: string): number =>
  db
    .prepare<[number], number>(
      `SELECT coalesce(max(number), 0) FROM (
         SELECT CAST(${DIGITS} AS INTEGER) AS number FROM ${table}
         WHERE order_number GLOB '${PREFIX}[0-9]*' AND ${DIGITS} NOT GLOB '*[^0-9]*'
       ) WHERE number <= ?`,
    )
    .pluck()
    .get(HIGHEST_IMPORTED_ID) ?? 0

/**
 * Hands out order numbers, within the caller's transaction. The store keeps which comes next: it is
 * above all that are written as ours are, whether handed out or imported.
 *
 * @param numbers the table or view whose `order_number` are taken
 */
export function createOrderNumbers(db: Database, numbers = 'orders') {
  const isTaken = db.prepare<[string], 1>(`SELECT 1 FROM ${numbers} WHERE order_number = ?`).pluck()

  /** Hands out one number after the other above a given one, until it is closed. */
  function series(above = 0) {
    let number = Math.max(Number(readSetting(db, 'next_order_number')), above + 1)
    return {
      next(): string {
        // Only those that do not count may be in the way.
        while (isTaken.get(formatOrderNumber(number)) !== undefined) number++
        return formatOrderNumber(number++)
      },
      /** Remembers which number comes next. */
      close: (): void => writeSetting(db, 'next_order_number', String(number)),
    }
  }

  return {
    next(): string {
      const numbers = series()
      const orderNumber = numbers.next()
      numbers.close()
      return orderNumber
    },
    series,
  }
}
