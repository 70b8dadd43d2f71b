import {
  formatIsoDate,
  startOfPeriod,
  type Day,
  type DayCalendar,
} from '../../core/formatting/day-calendar.js'
import { buildListUrl, type ListQuery } from '../list-query.js'

/** Links to the list with common ranges of days, relative to today in the calendar's time zone. */
export function buildDatePresets(query: ListQuery, calendar: DayCalendar, now = Date.now()) {
  const today = calendar.dayOf(now)
  const monthStart = startOfPeriod('month', today)
  const ranges: [name: string, first: Day, last: Day][] = [
    ['Today', today, today],
    ['Last 7 days', today - 6, today],
    ['This month', monthStart, today],
    ['Last month', startOfPeriod('month', monthStart - 1), monthStart - 1],
  ]
  return ranges.map(([name, first, last]) => {
    const [from, to] = [formatIsoDate(first), formatIsoDate(last)]
    return {
      name,
      href: buildListUrl({ ...query, page: 1, from, to }),
      isSelected: query.from === from && query.to === to,
    }
  })
}
