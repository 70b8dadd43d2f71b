import { convertKilograms } from '../calculator/units.js'
import type { ConversionCounter } from '../checkout/conversions.js'
import { formatIsoDate, parseDay, startOfNextPeriod } from '../core/formatting/day-calendar.js'
import { getMinorUnitDigits, toMassUnit } from '../core/formatting/number-formatter.js'
import { getFormatters, type Formatters } from '../core/formatting/portal-formatters.js'
import {
  calculateDashboardStats,
  type DashboardStats,
  type StatsPeriod,
  type TimelineData,
} from '../orders/dashboard-stats.js'
import { EXCEPTION_LABELS, STATUS_LABELS } from '../orders/labels.js'
import { MAX_COUNTED_EXCEPTIONS, ORDER_EXCEPTIONS } from '../orders/order-filters.js'
import type { Order } from '../orders/order.js'
import type { OrderStore } from '../orders/store/order-store.js'
import { buildCards, createDashboardFormatters, type DashboardFormatters } from './cards.js'
import { buildOrdersUrl, getDateFilters } from './period.js'

interface TimelineInput {
  stats: DashboardStats
  currency: string
  /** ISO date */
  today: string
  formatters: Formatters
  dashboardFormatters: DashboardFormatters
}

type Point = Omit<TimelineData, 'date'>

/** The series of the timeline, each with its value for the chart and its formatted text. */
function buildSeries({ stats, currency, formatters, dashboardFormatters }: TimelineInput) {
  const massUnit = toMassUnit(Math.max(...stats.timeline.map(({ co2eKg }) => co2eKg)))
  const getAmount = ({ revenue }: Point): number =>
    revenue.find((entry) => entry.currency === currency)?.amountMinor ?? 0
  const getMass = ({ co2eKg }: Point): number => convertKilograms(co2eKg, massUnit)
  return [
    {
      name: 'orders',
      label: 'Orders',
      unit: '',
      getValue: (point: Point) => point.orders,
      getText: (point: Point) => formatters.count(point.orders),
    },
    {
      name: 'co2e',
      label: 'CO₂e',
      unit: massUnit,
      getValue: getMass,
      getText: (point: Point) => dashboardFormatters.decimal(getMass(point)),
    },
    {
      name: 'revenue',
      label: 'Revenue',
      unit: currency,
      getValue: (point: Point) => getAmount(point) / 10 ** getMinorUnitDigits(currency),
      getText: (point: Point) => formatters.money(getAmount(point), currency),
    },
  ]
}

/** Orders over time: the table that the line chart is drawn from. */
function buildTimelineView(input: TimelineInput) {
  const { stats, today, dashboardFormatters } = input
  const { step: granularity, timeline } = stats
  const series = buildSeries(input)
  const buildCells = (point: Point) =>
    series.map(({ getValue, getText }) => ({ value: getValue(point), text: getText(point) }))
  return {
    granularity,
    locale: dashboardFormatters.locale,
    series: series.map(({ name, label, unit }, index) => ({
      name,
      label,
      unit,
      isSelected: index === 0,
    })),
    rows: timeline.map((point) => {
      const last = formatIsoDate(startOfNextPeriod(granularity, parseDay(point.date)) - 1)
      return {
        date: point.date,
        name: dashboardFormatters.timelinePeriod(granularity, point.date, last),
        axisLabel: dashboardFormatters.axisLabel(granularity, point.date),
        isUnfinished: last >= today,
        href: buildOrdersUrl({ from: point.date, to: last }),
        cells: buildCells(point),
      }
    }),
    total: buildCells(stats),
  }
}

/** Orders by status: the table that the doughnut chart is drawn from. */
function buildStatusView(
  stats: DashboardStats,
  formatters: Formatters,
  dashboardFormatters: DashboardFormatters,
) {
  return {
    total: formatters.count(stats.orders),
    rows: stats.statusDistribution.map(({ status, count }) => ({
      status,
      name: STATUS_LABELS[status],
      count,
      text: formatters.count(count),
      share: dashboardFormatters.share(stats.orders === 0 ? 0 : count / stats.orders),
      href: count === 0 ? null : buildOrdersUrl({ ...getDateFilters(stats), status: [status] }),
    })),
  }
}

interface Step {
  label: string
  count: string
  /** Compared with the previous step; `null` if that is not meaningful */
  share: string | null
}

/** The numbers of scans, results, orders and paid orders; `null` if there were none. */
async function buildConversionView(
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

/**
 * The currencies of all orders: the main currency first, then by number of orders. They do not
 * depend on the selected range, so the first currency is the same for every range.
 */
async function sortCurrenciesByUse(store: OrderStore, main: string): Promise<string[]> {
  const uses = await store.readStatistics((statistics) => statistics.countByCurrency())
  const rank = ([code, orders]: [string, number]) => (code === main ? Infinity : orders)
  return [...uses]
    .sort((a, b) => rank(b) - rank(a) || (a[0] < b[0] ? -1 : 1))
    .map(([currency]) => currency)
}

interface DashboardOptions {
  locale: string
  mainCurrency: string
  /** ms since 1970 */
  now: number
  /** Whether orders can be placed with a provider */
  hasProvider: boolean
  /** `null` if guests cannot order */
  conversions: Pick<ConversionCounter, 'read'> | null
  /** Number of orders with a payment problem */
  paymentProblems: number
  /** Orders whose certificate could not be issued */
  uncertified: readonly Order[]
}

/** Links to the orders that need attention. */
function buildAttention(
  { exceptions }: DashboardStats,
  { hasProvider, paymentProblems, uncertified }: DashboardOptions,
  { count }: Formatters,
): { subject: string; label: string; href: string }[] {
  const names = ORDER_EXCEPTIONS.filter(
    (name) => exceptions[name] > 0 && (hasProvider || name !== 'not_placed'),
  )
  const links = names.map((name) => ({
    subject: count(exceptions[name]) + (exceptions[name] === MAX_COUNTED_EXCEPTIONS ? '+' : ''),
    label: EXCEPTION_LABELS[name],
    href: buildOrdersUrl({ exception: [name] }),
  }))
  if (paymentProblems > 0) {
    links.push({
      subject: count(paymentProblems),
      label: 'with a payment problem, such as money for a cancelled order',
      href: buildOrdersUrl({ payment: ['problem'] }),
    })
  }
  const certificates = uncertified.map(({ id, orderNumber }) => ({
    subject: orderNumber,
    label: 'without its certificate, which could not be issued',
    href: `/admin/orders/${id}`,
  }))
  return [...links, ...certificates]
}

/** Builds the dashboard's view data; `null` while there are no orders. */
export async function buildDashboardView(
  store: OrderStore,
  period: StatsPeriod,
  options: DashboardOptions,
) {
  const { locale, mainCurrency, now, conversions } = options
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
    attention: buildAttention(stats, options, formatters),
    cards: buildCards({ stats, currencies, formatters, dashboardFormatters }),
    conversion:
      conversions &&
      (await buildConversionView(conversions, stats, formatters, dashboardFormatters)),
    hasOrders: stats.orders > 0,
    timeline: buildTimelineView({ stats, currency, today, formatters, dashboardFormatters }),
    statuses: buildStatusView(stats, formatters, dashboardFormatters),
  }
}
