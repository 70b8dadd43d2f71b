import type { Database } from 'better-sqlite3'
import { readSetting, writeSetting } from './settings.js'

const PREFIX = 'CW-'
const FEWEST_DIGITS = 6

/** The order number that stands for a number. */
export const numbered = (number: number): string =>
  `${PREFIX}${String(number).padStart(FEWEST_DIGITS, '0')}`

/** The last number that has as many digits. */
const lastAsLong = (number: number): number =>
  10 ** Math.max(String(number).length, FEWEST_DIGITS) - 1

/**
 * Hands out order numbers, within the caller's transaction.
 *
 * @param numbers the table or view whose `order_number` are taken
 */
export function orderNumbers(db: Database, numbers = 'orders') {
  // Texts of one length sort as their numbers do, so a range of the index tells how many are taken.
  const countTaken = db
    .prepare<[string, string, number], number>(
      `SELECT count(*) FROM ${numbers} WHERE order_number BETWEEN ? AND ?
         AND length(order_number) = ?
         AND substr(order_number, ${PREFIX.length + 1}) NOT GLOB '*[^0-9]*'`,
    )
    .pluck()

  function allTaken(first: number, last: number): boolean {
    const text = numbered(first)
    return countTaken.get(text, numbered(last), text.length) === last - first + 1
  }

  /** The first number from this one on that is free. Goes over taken ones in growing strides. */
  function firstFree(from: number): number {
    let [number, stride] = [from, 1]
    for (;;) {
      const last = Math.min(number + stride - 1, lastAsLong(number))
      if (allTaken(number, last)) {
        number = last + 1
        stride *= 2
      } else if (last === number) return number
      else stride = Math.ceil((last - number + 1) / 2)
    }
  }

  /** Hands out one number after the other, which are entered in the book before it is closed. */
  function series() {
    let number = Number(readSetting(db, 'next_order_number'))
    return {
      next(): string {
        number = firstFree(number)
        return numbered(number++)
      },
      /** Remembers which number comes next, past those that came into the book by other ways. */
      close: (): void => writeSetting(db, 'next_order_number', String(firstFree(number))),
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
