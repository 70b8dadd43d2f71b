import type { Database } from 'better-sqlite3'
import { dayCalendar, type DayCalendar } from './day-calendar.js'
import { rebuildRollUps } from './roll-ups.js'

type Name = 'time_zone' | 'next_order_number'

/** A setting of a book, as text. */
export const readSetting = (db: Database, name: Name): string =>
  db.prepare<[string], string>('SELECT value FROM settings WHERE name = ?').pluck().get(name) ?? ''

export const writeSetting = (db: Database, name: Name, value: string): void => {
  db.prepare('UPDATE settings SET value = ? WHERE name = ?').run(value, name)
}

/** The calendar by which a book's sums are kept. */
export const bookCalendar = (db: Database): DayCalendar => dayCalendar(readSetting(db, 'time_zone'))

/** Sees to it that the sums are those of a time zone's days, and makes them anew where they are not. */
export function keepTimeZone(db: Database, timeZone: string): DayCalendar {
  const calendar = dayCalendar(timeZone)
  if (readSetting(db, 'time_zone') === timeZone) return calendar
  db.transaction(() => {
    rebuildRollUps(db, calendar)
    writeSetting(db, 'time_zone', timeZone)
  }).immediate()
  return calendar
}

/** Refuses to write sums by other days than the book's: a process beside this one may have changed them. */
export function requireTimeZone(db: Database, timeZone: string): void {
  const kept = readSetting(db, 'time_zone')
  if (kept !== timeZone) {
    throw new Error(`the order book goes by TIME_ZONE ${kept} now, this process by ${timeZone}`)
  }
}
