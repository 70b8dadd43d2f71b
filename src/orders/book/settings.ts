import type { Database } from 'better-sqlite3'
import { dayCalendar, type DayCalendar } from './day-calendar.js'
import { rebuildRollUps } from './roll-ups.js'

type Name = 'time_zone' | 'next_order_number'

const read = (db: Database, name: Name): string =>
  db.prepare<[string], string>('SELECT value FROM settings WHERE name = ?').pluck().get(name) ?? ''

const write = (db: Database, name: Name, value: string): void => {
  db.prepare('UPDATE settings SET value = ? WHERE name = ?').run(value, name)
}

/** The calendar by which a book's sums are kept. */
export const bookCalendar = (db: Database): DayCalendar => dayCalendar(read(db, 'time_zone'))

/** Sees to it that the sums are those of a time zone's days, and makes them anew where they are not. */
export function keepTimeZone(db: Database, timeZone: string): DayCalendar {
  const calendar = dayCalendar(timeZone)
  if (read(db, 'time_zone') === timeZone) return calendar
  db.transaction(() => {
    rebuildRollUps(db, calendar)
    write(db, 'time_zone', timeZone)
  }).immediate()
  return calendar
}

/** Refuses to write sums by other days than the book's: a process beside this one may have changed them. */
export function requireTimeZone(db: Database, timeZone: string): void {
  const kept = read(db, 'time_zone')
  if (kept !== timeZone) {
    throw new Error(`the order book goes by TIME_ZONE ${kept} now, this process by ${timeZone}`)
  }
}

const numbered = (number: number): string => `CW-${String(number).padStart(6, '0')}`

/** Hands out order numbers, within the caller's transaction. */
export function orderNumbers(db: Database) {
  const isTaken = db.prepare('SELECT 1 FROM orders WHERE order_number = ?')
  return {
    next(): string {
      let number = Number(read(db, 'next_order_number'))
      while (isTaken.get(numbered(number)) !== undefined) number++
      write(db, 'next_order_number', String(number + 1))
      return numbered(number)
    },
  }
}
