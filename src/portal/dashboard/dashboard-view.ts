import type { OrderDatabase } from '../../order-store/sqlite/sqlite-order-store.js'
import { formatIsoDate } from '../../orders/day-calendar.js'
import { getFormatters } from '../formatters.js'
import { buildCards } from './cards.js'
import { sortCurrenciesByUse } from './currencies-by-use.js'
import { calculateDashboardStats, type Range } from '../../orders/dashboard-stats.js'
import { createDashboardFormatters } from './dashboard-formatters.js'
import { buildStatusView } from './status-view.js'
import { buildTimelineView } from './timeline-view.js'

/** The dashboard as its page shows it at a moment, ms since the epoch; `null` before the first order. */
export function buildDashboardView(
  book: OrderDatabase,
  range: Range,
  { locale, mainCurrency, now }: { locale: string; mainCurrency: string; now: number },
) {
  const currencies = sortCurrenciesByUse(book, mainCurrency)
  const [currency] = currencies
  if (currency === undefined) return null
  const { calendar } = book
  const { timeZone } = calendar
  const figures = getFormatters(locale, timeZone)
  const words = createDashboardFormatters(locale)
  const stats = calculateDashboardStats(book, range, now)
  const today = formatIsoDate(calendar.dayOf(now))
  return {
    timeZone,
    period: words.period(stats.from, stats.to),
    cards: buildCards({ stats, currencies, figures, words }),
    hasOrders: stats.orders > 0,
    timeline: buildTimelineView({ stats, currency, today, figures, words }),
    statuses: buildStatusView(stats, figures, words),
  }
}
