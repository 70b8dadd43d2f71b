import type { Database } from 'better-sqlite3'
import type { Day } from '../../../core/formatting/day-calendar.js'
import type { GroupCount } from '../sql/daily-aggregate.js'
import type { DayRange } from '../../order-statistics.js'
import { readRange } from '../sql/aggregate-ranges.js'

/**
 * Reads the number of orders in each group.
 *
 * @param db a read-only connection, because a connection's own writes do not change its
 *   `data_version`
 */
export function createGroupCounter(db: Database) {
  const select = db.prepare<[number, Day, Day], GroupCount>(
    `SELECT status, calculator_type, currency, sum(orders) AS orders
     FROM counts WHERE step = ? AND start BETWEEN ? AND ?
     GROUP BY status, calculator_type, currency`,
  )
  const dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck()
  // Many lists need the counts of all orders, which only change when orders are written.
  let cached: { version?: number | undefined; counts: GroupCount[] } = { counts: [] }

  function read(range: DayRange): GroupCount[] {
    const groups = new Map<string, GroupCount>()
    for (const count of readRange(range, select)) {
      const key = `${count.status} ${count.calculator_type} ${count.currency}`
      const group = groups.get(key)
      if (group === undefined) groups.set(key, count)
      else group.orders += count.orders
    }
    return [...groups.values()].filter(({ orders }) => orders > 0)
  }

  /** Counts the orders placed in a range of days; omits empty groups. */
  return (range: DayRange): readonly GroupCount[] => {
    if (range.from !== null || range.to !== null) return read(range)
    const version = dataVersion.get()
    if (version !== cached.version) cached = { version, counts: read(range) }
    return cached.counts
  }
}
