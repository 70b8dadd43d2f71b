import { parseDay } from '../../orders/day-calendar.js'
import type { Formatters } from '../formatters.js'
import { formatRateChange, formatSumChange, type PeriodChange } from './period-change.js'
import type { DashboardStats } from '../../orders/dashboard-stats.js'
import type { DashboardFormatters } from './dashboard-formatters.js'
import { COUNTED_STATUSES, getDateFilters, buildOrdersUrl } from './order-list-links.js'
import { PREVIOUS_PERIOD_LABELS } from './ranges.js'

/** One of the four figures at the head of the dashboard. */
export interface Card {
  name: string
  title: string
  /** The list of the orders that it sums up */
  href: string
  value: string
  unit?: string
  notes: string[]
  change: PeriodChange | null
}

interface Given {
  stats: DashboardStats
  /** The most usual one first */
  currencies: string[]
  figures: Formatters
  words: DashboardFormatters
}

const amountIn = (revenue: DashboardStats['revenue'], currency: string): number =>
  revenue.find((one) => one.currency === currency)?.amountMinor ?? 0

/** The four cards. Money is told by currency and never added up across them. */
export function buildCards({ stats, currencies, figures, words }: Given): Card[] {
  const { co2eKg, fulfillment, orders, previous, range, revenue } = stats
  const days = getDateFilters(stats)
  const counted = { ...days, status: COUNTED_STATUSES }
  const countedOrders = stats.statusDistribution
    .filter(({ status }) => COUNTED_STATUSES.includes(status))
    .reduce((total, { count }) => total + count, 0)
  const dayCount = parseDay(stats.to) - parseDay(stats.from) + 1
  const co2e = words.mass(co2eKg)
  const co2ePerOrder = words.mass(countedOrders === 0 ? 0 : co2eKg / countedOrders)

  const [main = '', ...others] = currencies
  const otherAmounts = others
    .filter((currency) => revenue.some((one) => one.currency === currency))
    .map((currency) => figures.money(amountIn(revenue, currency), currency))

  const before = PREVIOUS_PERIOD_LABELS[range]
  const change = (of: (then: NonNullable<typeof previous>, before: string) => PeriodChange) => {
    if (previous === null || before === null) return null
    if (previous.orders === 0) return { kind: 'told' as const, text: `No orders in ${before}` }
    return of(previous, before)
  }

  return [
    {
      name: 'orders',
      title: 'Orders',
      href: buildOrdersUrl(days),
      value: figures.count(orders),
      notes: [`${words.rate(orders / dayCount)} a day`],
      change: change((then, before) => formatSumChange(orders, then.orders, before, words)),
    },
    {
      name: 'co2e',
      title: 'CO₂e',
      href: buildOrdersUrl({ ...counted, sort: '-co2eKg' }),
      ...co2e,
      notes: [`${co2ePerOrder.value} ${co2ePerOrder.unit} an order`],
      change: change((then, before) => formatSumChange(co2eKg, then.co2eKg, before, words)),
    },
    {
      name: 'revenue',
      title: 'Revenue',
      href: buildOrdersUrl({ ...counted, currency: main, sort: '-amountMinor' }),
      value: figures.money(amountIn(revenue, main), main),
      notes: otherAmounts.length === 0 ? [`All in ${main}`] : otherAmounts,
      change: change((then, before) =>
        formatSumChange(amountIn(revenue, main), amountIn(then.revenue, main), before, words),
      ),
    },
    {
      name: 'fulfilment',
      title: 'Fulfilment',
      href: buildOrdersUrl({ ...days, status: ['fulfilled'] }),
      value: orders === 0 ? '–' : words.share(fulfillment.rate),
      notes: [
        `${figures.count(fulfillment.fulfilled)} of ${figures.count(fulfillment.total)} ${fulfillment.total === 1 ? 'order' : 'orders'}`,
      ],
      change:
        orders === 0
          ? null
          : change((then, before) =>
              formatRateChange(fulfillment.rate, then.fulfillment.rate, before, words),
            ),
    },
  ]
}
