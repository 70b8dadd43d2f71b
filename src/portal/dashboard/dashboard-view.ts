import type { OrderStore } from '../../order-store/order-store.js'
import { calculateDashboardStats, type Range } from '../../orders/dashboard-stats.js'
import { formatIsoDate } from '../../orders/day-calendar.js'
import { getFormatters } from '../formatters.js'
import { buildCards } from './cards.js'
import { sortCurrenciesByUse } from './currencies-by-use.js'
import { createDashboardFormatters } from './dashboard-formatters.js'
import { buildStatusView } from './status-view.js'
import { buildTimelineView } from './timeline-view.js'

/** Builds the dashboard's view data; `null` while there are no orders. `now` is ms since the epoch. */
export function buildDashboardView(
  store: OrderStore,
  range: Range,
  { locale, mainCurrency, now }: { locale: string; mainCurrency: string; now: number },
) {
  const currencies = sortCurrenciesByUse(store, mainCurrency)
  const [currency] = currencies
  if (currency === undefined) return null
  const { calendar } = store
  const { timeZone } = calendar
  const formatters = getFormatters(locale, timeZone)
  const dashboardFormatters = createDashboardFormatters(locale)
  const stats = calculateDashboardStats(store, range, now)
  const today = formatIsoDate(calendar.dayOf(now))
  return {
    timeZone,
    period: dashboardFormatters.period(stats.from, stats.to),
    cards: buildCards({ stats, currencies, formatters, dashboardFormatters }),
    hasOrders: stats.orders > 0,
    timeline: buildTimelineView({ stats, currency, today, formatters, dashboardFormatters }),
    statuses: buildStatusView(stats, formatters, dashboardFormatters),
  }
}
