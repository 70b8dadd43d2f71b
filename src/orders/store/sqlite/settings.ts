import type { Database } from 'better-sqlite3'
import { Problem } from '../../../core/http/problem.js'
import {
  createDayCalendar,
  isSameTimeZone,
  type DayCalendar,
} from '../../../core/formatting/day-calendar.js'
import { rebuildAggregates } from './aggregates.js'

type SettingName =
  | 'time_zone'
  | 'next_order_number'
  /** See FOLDING_VERSION; missing in databases of earlier versions */
  | 'folding'

export const readSetting = (db: Database, name: SettingName): string =>
  db.prepare<[string], string>('SELECT value FROM settings WHERE name = ?').pluck().get(name) ?? ''

export const writeSetting = (db: Database, name: SettingName, value: string): void => {
  db.prepare('INSERT OR REPLACE INTO settings VALUES (?, ?)').run(name, value)
}

/** The calendar of a database's aggregates. */
export const openStoreCalendar = (db: Database): DayCalendar =>
  createDayCalendar(readSetting(db, 'time_zone'))

/** Sets the time zone of a database; recomputes its aggregates if the time zone changes. */
export function setTimeZone(db: Database, timeZone: string): DayCalendar {
  const calendar = createDayCalendar(timeZone)
  if (isSameTimeZone(readSetting(db, 'time_zone'), timeZone)) return calendar
  db.transaction(() => {
    rebuildAggregates(db, calendar)
    writeSetting(db, 'time_zone', timeZone)
  }).immediate()
  return calendar
}

/**
 * Returns a function that throws a Problem (503) if another process has changed the time zone of
 * the aggregates. Call the function in the transaction that reads or writes the aggregates.
 */
export function createTimeZoneCheck(db: Database, timeZone: string): () => void {
  const select = db
    .prepare<[], string>("SELECT value FROM settings WHERE name = 'time_zone'")
    .pluck()
  return () => {
    const current = select.get() ?? ''
    if (isSameTimeZone(current, timeZone)) return
    throw new Problem(
      503,
      `Another process uses the order database with TIME_ZONE ${current}, this one with ${timeZone}: set the same TIME_ZONE for all processes.`,
    )
  }
}
