import { parseDay } from '../core/formatting/day-calendar.js'
import type { DashboardStats } from '../orders/dashboard-stats.js'
import type { ConversionCounter } from '../checkout/conversions.js'
import type { Formatters } from '../core/formatting/formatters.js'
import type { DashboardFormatters } from './dashboard-formatters.js'

interface Step {
  label: string
  count: string
  /** Compared with the previous step; `null` if that is not meaningful */
  share: string | null
}

/** The numbers of scans, results, orders and paid orders; `null` if there were none. */
export async function buildConversionView(
  conversions: Pick<ConversionCounter, 'read'>,
  { range, from, to }: Pick<DashboardStats, 'range' | 'from' | 'to'>,
  { count }: Formatters,
  dashboardFormatters: Pick<DashboardFormatters, 'share'>,
): Promise<Step[] | null> {
  // `all` starts with the first order, but guests may have scanned codes before it.
  const first = range === 'all' ? 0 : parseDay(from)
  const { scans, results, orders, paidOrders } = await conversions.read(first, parseDay(to))
  if (scans + results + orders === 0) return null
  const formatShare = (part: number, whole: number, name: string): string | null =>
    // The part can exceed the whole, because an order may be older than the counter, or its result
    // may not have been counted.
    whole === 0 || part > whole ? null : `${dashboardFormatters.share(part / whole)} of ${name}`
  return [
    { label: 'Scans', count: count(scans), share: null },
    { label: 'Results', count: count(results), share: null },
    { label: 'Orders', count: count(orders), share: formatShare(orders, results, 'results') },
    { label: 'Paid', count: count(paidOrders), share: formatShare(paidOrders, orders, 'orders') },
  ]
}
