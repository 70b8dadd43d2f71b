import type { OrderStore } from '../orders/store/order-store.js'
import {
  calculateDashboardStats,
  type DashboardStats,
  type StatsPeriod,
} from '../orders/dashboard-stats.js'
import type { ConversionCounter } from '../checkout/conversions.js'
import { formatIsoDate } from '../core/formatting/day-calendar.js'
import { ORDER_EXCEPTIONS } from '../orders/order-filters.js'
import { getFormatters, type Formatters } from '../core/formatting/formatters.js'
import { EXCEPTION_LABELS } from '../orders/labels.js'
import { buildCards } from './cards.js'
import { sortCurrenciesByUse } from './currencies-by-use.js'
import { buildConversionView } from './conversion-view.js'
import { createDashboardFormatters } from './dashboard-formatters.js'
import { buildOrdersUrl } from './order-list-links.js'
import { buildStatusView } from './status-view.js'
import { buildTimelineView } from './timeline-view.js'

interface DashboardOptions {
  locale: string
  mainCurrency: string
  /** ms since 1970 */
  now: number
  /** Whether orders can be placed with a provider */
  hasProvider: boolean
  /** `null` if guests cannot order */
  conversions: Pick<ConversionCounter, 'read'> | null
}

/** Links to the orders that need attention. */
const buildExceptionLinks = (
  { exceptions }: DashboardStats,
  { count }: Formatters,
  hasProvider: boolean,
) =>
  ORDER_EXCEPTIONS.filter(
    (name) => exceptions[name] > 0 && (hasProvider || name !== 'not_placed'),
  ).map((name) => ({
    count: count(exceptions[name]),
    label: EXCEPTION_LABELS[name],
    href: buildOrdersUrl({ exception: [name] }),
  }))

/** Builds the dashboard's view data; `null` while there are no orders. */
export async function buildDashboardView(
  store: OrderStore,
  period: StatsPeriod,
  { locale, mainCurrency, now, hasProvider, conversions }: DashboardOptions,
) {
  const currencies = await sortCurrenciesByUse(store, mainCurrency)
  const [currency] = currencies
  if (currency === undefined) return null
  const { calendar } = store
  const { timeZone } = calendar
  const formatters = getFormatters(locale, timeZone)
  const dashboardFormatters = createDashboardFormatters(locale)
  const stats = await calculateDashboardStats(store, period, now)
  const today = formatIsoDate(calendar.dayOf(now))
  return {
    timeZone,
    period: dashboardFormatters.period(stats.from, stats.to),
    exceptions: buildExceptionLinks(stats, formatters, hasProvider),
    cards: buildCards({ stats, currencies, formatters, dashboardFormatters }),
    conversion:
      conversions &&
      (await buildConversionView(conversions, stats, formatters, dashboardFormatters)),
    hasOrders: stats.orders > 0,
    timeline: buildTimelineView({ stats, currency, today, formatters, dashboardFormatters }),
    statuses: buildStatusView(stats, formatters, dashboardFormatters),
  }
}
