import { parseDay } from '../orders/book/day-calendar.js'
import type { Figures } from '../orders/pages/figures.js'
import { changeOfRate, changeOfSum, type Change } from './change.js'
import type { DashboardStats } from './dashboard-stats.js'
import type { FigureWords } from './figure-words.js'
import { COUNTED_STATUSES, daysOf, ordersUrl } from './matching-orders.js'
import { TIME_BEFORE } from './ranges.js'

/** One of the four figures at the head of the dashboard. */
export interface Card {
  name: string
  title: string
  /** The list of the orders that it sums up */
  href: string
  value: string
  unit?: string
  notes: string[]
  change: Change | null
}

interface Given {
  stats: DashboardStats
  /** The most usual one first */
  currencies: string[]
  figures: Figures
  words: FigureWords
}

const amountIn = (revenue: DashboardStats['revenue'], currency: string): number =>
  revenue.find((one) => one.currency === currency)?.amountMinor ?? 0

/** The four cards. Money is told by currency and never added up across them. */
export function cardsOf({ stats, currencies, figures, words }: Given): Card[] {
  const { co2eKg, fulfillment, orders, previous, range, revenue } = stats
  const days = daysOf(stats)
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

  const before = TIME_BEFORE[range]
  const change = (of: (then: NonNullable<typeof previous>, before: string) => Change) => {
    if (previous === null || before === null) return null
    if (previous.orders === 0) return { kind: 'told' as const, text: `No orders in ${before}` }
    return of(previous, before)
  }

  return [
    {
      name: 'orders',
      title: 'Orders',
      href: ordersUrl(days),
      value: figures.count(orders),
      notes: [`${words.rate(orders / dayCount)} a day`],
      change: change((then, before) => changeOfSum(orders, then.orders, before, words)),
    },
    {
      name: 'co2e',
      title: 'CO₂e',
      href: ordersUrl({ ...counted, sort: '-co2eKg' }),
      ...co2e,
      notes: [`${co2ePerOrder.value} ${co2ePerOrder.unit} an order`],
      change: change((then, before) => changeOfSum(co2eKg, then.co2eKg, before, words)),
    },
    {
      name: 'revenue',
      title: 'Revenue',
      href: ordersUrl({ ...counted, currency: main, sort: '-amountMinor' }),
      value: figures.money(amountIn(revenue, main), main),
      notes: otherAmounts.length === 0 ? [`All in ${main}`] : otherAmounts,
      change: change((then, before) =>
        changeOfSum(amountIn(revenue, main), amountIn(then.revenue, main), before, words),
      ),
    },
    {
      name: 'fulfilment',
      title: 'Fulfilment',
      href: ordersUrl({ ...days, status: ['fulfilled'] }),
      value: orders === 0 ? '–' : words.share(fulfillment.rate),
      notes: [
        `${figures.count(fulfillment.fulfilled)} of ${figures.count(fulfillment.total)} ${fulfillment.total === 1 ? 'order' : 'orders'}`,
      ],
      change:
        orders === 0
          ? null
          : change((then, before) =>
              changeOfRate(fulfillment.rate, then.fulfillment.rate, before, words),
            ),
    },
  ]
}
