import type { Database } from 'better-sqlite3'
import { Problem } from '../../http/problem.js'
import { createDayCalendar, isSameTimeZone, type DayCalendar } from '../../orders/day-calendar.js'
import { rebuildAggregates } from './aggregates.js'

type Name = 'time_zone' | 'next_order_number'

/** A setting of a store, as text. */
export const readSetting = (db: Database, name: Name): string =>
  db.prepare<[string], string>('SELECT value FROM settings WHERE name = ?').pluck().get(name) ?? ''

export const writeSetting = (db: Database, name: Name, value: string): void => {
  db.prepare('UPDATE settings SET value = ? WHERE name = ?').run(value, name)
}

/** The calendar by which a store's sums are kept. */
export const openStoreCalendar = (db: Database): DayCalendar =>
  createDayCalendar(readSetting(db, 'time_zone'))

/** Sees to it that the sums are those of a time zone's days, and makes them anew where they are not. */
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
 * Makes a check that a store's sums are still those of a time zone's days: a process beside this
 * one may have changed them. It throws a Problem (503) where they are not, and belongs into the
 * transaction that reads or writes them.
 */
export function createTimeZoneCheck(db: Database, timeZone: string): () => void {
  const read = db.prepare<[], string>("SELECT value FROM settings WHERE name = 'time_zone'").pluck()
  let known: string | undefined = timeZone
  return () => {
    const kept = read.get()
    if (kept === known) return
    if (isSameTimeZone(kept ?? '', timeZone)) {
      known = kept
      return
    }
    throw new Problem(
      503,
      `The order store goes by the days of ${kept} now, and this process by those of ${timeZone}: give all processes the same TIME_ZONE.`,
    )
  }
}
