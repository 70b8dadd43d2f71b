import assert from 'node:assert/strict'
import fc from 'fast-check'
import { CALCULATOR_TYPES } from '../../src/calculator/calculator-data.js'
import { formatIsoDate } from '../../src/core/formatting/day-calendar.js'
import {
  calculateDashboardStats,
  PRESET_RANGES,
  type StatsPeriod,
} from '../../src/orders/dashboard-stats.js'
import type { OrderFilters, OrderSort, SortField } from '../../src/orders/order-filters.js'
import { ORDER_STATUSES } from '../../src/orders/order-status.js'
import type { Order } from '../../src/orders/order.js'
import { formatAmountInput } from '../../src/orders/pages/order-fields.js'
import type { OrderStore } from '../../src/orders/store/order-store.js'
import { searches } from './order-store.js'

/* An independent implementation of lists and statistics, without indexes or aggregates. */

/** Returns a function that formats dates in a time zone. */
export function dateIn(timeZone: string) {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  })
  return (moment: string | number) => format.format(new Date(moment))
}

const withoutInvisible = (text: string) => text.replace(/\p{Default_Ignorable_Code_Point}/gu, '')

const sameLetters = (text: string) =>
  Array.from(withoutInvisible(text).normalize('NFC'), (letter) =>
    letter.normalize('NFD').replace(/[\u0300-\u036f]/g, ''),
  )
    .join('')
    .normalize('NFC')
    .replaceAll('ẞ', 'ß')
    .toUpperCase()
    .toLowerCase()
    .replace(/ς/g, 'σ')

const isNotPlaced = ({ status, co2eKg }: Order): boolean =>
  co2eKg > 0 && (status === 'paid' || status === 'processing')

export function matches(
  order: Order,
  filters: OrderFilters,
  date: (moment: string) => string,
): boolean {
  const { q = '', status = [], calculatorType = [], exception = [], currency, from, to } = filters
  const typed = q.trim().replace(/\bIMO (\d)/, '$1')
  const words = (sameLetters(typed) || withoutInvisible(typed)).split(/\s+/)
  const text = [
    order.orderNumber,
    order.customerName,
    order.customerEmail,
    order.vesselName ?? '',
    order.imoNumber ?? '',
  ]
    .map(sameLetters)
    .join('\n')
  const [prefix, number] = order.orderNumber.toLowerCase().split(/-0*/)
  const exact = [
    `${prefix}${number}`,
    `${prefix}-${number}`,
    formatAmountInput(order.amountMinor, order.currency),
  ]
  return (
    words.every((word) => exact.includes(word) || text.includes(word)) &&
    (status.length === 0 || status.includes(order.status)) &&
    (calculatorType.length === 0 || calculatorType.includes(order.calculatorType as never)) &&
    (exception.length === 0 || isNotPlaced(order)) &&
    (currency === undefined || currency === order.currency) &&
    (from === undefined || date(order.placedAt) >= from) &&
    (to === undefined || date(order.placedAt) <= to)
  )
}

const withoutMarks = (text: string) => sameLetters(text).normalize('NFKD').replace(/\p{M}/gu, '')

/** Compares by UTF-8 bytes, which sort like code points. */
const compareText = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b))

const COMPARE: Record<SortField, (a: Order, b: Order) => number> = {
  placedAt: (a, b) => Date.parse(a.placedAt) - Date.parse(b.placedAt),
  orderNumber: (a, b) => compareText(a.orderNumber, b.orderNumber),
  customerName: (a, b) => compareText(withoutMarks(a.customerName), withoutMarks(b.customerName)),
  vesselName: (a, b) => {
    if (a.vesselName === null || b.vesselName === null) {
      return Number(a.vesselName === null) - Number(b.vesselName === null)
    }
    return compareText(withoutMarks(a.vesselName), withoutMarks(b.vesselName))
  },
  co2eKg: (a, b) => a.co2eKg - b.co2eKg,
  amountMinor: (a, b) => compareText(a.currency, b.currency) || a.amountMinor - b.amountMinor,
  status: (a, b) => ORDER_STATUSES.indexOf(a.status) - ORDER_STATUSES.indexOf(b.status),
}

export function sorted(orders: Order[], sort: OrderSort): Order[] {
  const compare = COMPARE[sort.replace('-', '') as SortField]
  const sign = sort.startsWith('-') ? -1 : 1
  return [...orders].sort((a, b) => sign * (compare(a, b) || Number(a.id) - Number(b.id)))
}

const dates = fc.constantFrom(
  '2011-12-29',
  '2011-12-30',
  '2018-02-17',
  '2018-11-04',
  '2024-02-29',
  '2024-03-31',
  '2025-12-31',
  '2026-01-01',
  '2026-03-08',
  '2026-03-29',
  '2026-10-25',
  '2026-11-01',
)

/** Usually undefined, so that enough orders match. */
const rarely = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value })

export const someFilters = fc
  .record({
    q: rarely(searches),
    status: rarely(fc.uniqueArray(fc.constantFrom(...ORDER_STATUSES), { maxLength: 3 })),
    calculatorType: rarely(fc.uniqueArray(fc.constantFrom(...CALCULATOR_TYPES), { maxLength: 2 })),
    exception: rarely(fc.constant(['not_placed'] as const)),
    currency: rarely(fc.constantFrom('EUR', 'USD', 'JPY')),
    from: rarely(dates),
    to: rarely(dates),
  })
  .map((filters) => JSON.parse(JSON.stringify(filters)) as OrderFilters)

const DAY_MS = 24 * 60 * 60 * 1000

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
const pick = ({
  orders,
  co2eKg,
  revenue,
  paidRevenue,
  outstandingRevenue,
  fulfillment,
}: Awaited<ReturnType<typeof calculateDashboardStats>>) => ({
  orders,
  co2eKg,
  revenue,
  paidRevenue,
  outstandingRevenue,
  fulfillment,
})

const sumRevenue = (orders: Order[]) =>
  [...new Set(orders.map(({ currency }) => currency))].sort().map((currency) => ({
    currency,
    amountMinor: sum(
      orders.filter((order) => order.currency === currency).map(({ amountMinor }) => amountMinor),
    ),
  }))

function sumOrders(orders: Order[]) {
  const counted = orders.filter(({ status }) => !['cancelled', 'refunded'].includes(status))
  const milligrams = counted.reduce(
    (total, { co2eKg }) => total + BigInt(Math.round(co2eKg * 1e6)),
    0n,
  )
  const fulfilled = orders.filter(({ status }) => status === 'fulfilled').length
  return {
    orders: orders.length,
    co2eKg: Number(milligrams / 1_000_000n) + Number(milligrams % 1_000_000n) / 1e6,
    revenue: sumRevenue(counted),
    paidRevenue: sumRevenue(counted.filter(({ status }) => status !== 'pending')),
    outstandingRevenue: sumRevenue(counted.filter(({ status }) => status === 'pending')),
    fulfillment: {
      fulfilled,
      total: orders.length,
      rate: orders.length === 0 ? 0 : fulfilled / orders.length,
    },
  }
}

/** The median time to fulfilment of the newest 1,000 orders, in hours. */
function getMedianHours(orders: Order[]): number | null {
  const times = orders
    .filter(({ status }) => status === 'fulfilled')
    .sort((a, b) => Date.parse(b.placedAt) - Date.parse(a.placedAt))
    .flatMap(({ placedAt, fulfilledAt }) =>
      fulfilledAt === null ? [] : Math.max(0, Date.parse(fulfilledAt) - Date.parse(placedAt)),
    )
    .slice(0, 1_000)
    .sort((a, b) => a - b)
  const middle = [times.at((times.length - 1) / 2), times.at(times.length / 2)]
  if (times.length === 0) return null
  return Math.round((sum(middle.map((time) => time ?? 0)) / 2 / 3_600_000) * 10) / 10
}

/** Compares the statistics of a store with its orders, for all ranges. */
export async function checkStatistics(
  store: OrderStore,
  orders: Order[],
  now: number,
): Promise<void> {
  const date = dateIn(store.calendar.timeZone)
  const [from, to] = [200, 41].map((days) => date(new Date(now - days * DAY_MS).toISOString()))
  const periods: StatsPeriod[] = [
    ...PRESET_RANGES.map((range) => ({ range })),
    { range: 'custom', from: from ?? '', to: to ?? '' },
  ]
  for (const period of periods) {
    const { range } = period
    const stats = await calculateDashboardStats(store, period, now)
    const within = (from: string, to: string) =>
      orders.filter(({ placedAt }) => date(placedAt) >= from && date(placedAt) <= to)
    const own = range === 'all' ? orders : within(stats.from, stats.to)
    assert.deepEqual(pick(stats), sumOrders(own), `${range} in ${store.calendar.timeZone}`)
    const days = (Date.parse(stats.to) - Date.parse(stats.from)) / DAY_MS + 1
    if (range === 'custom') assert.deepEqual([stats.from, stats.to], [from, to])
    else if (range !== 'all') {
      assert.equal(stats.to, date(now), 'today is the last day')
      assert.equal(days, Number.parseInt(range), 'the number of days of the range')
      assert.equal(stats.timeline.length, days, 'a point for every day')
    }
    if (range !== 'all') {
      const before = (days: number) => formatIsoDate(Date.parse(stats.from) / DAY_MS - days)
      assert.deepEqual(stats.previous, sumOrders(within(before(days), before(1))))
    }
    const { from: first, to: last, medianHours } = stats.fulfillmentCohort
    assert.equal(medianHours, getMedianHours(within(first ?? '', last)))
    assert.equal(sum(stats.statusDistribution.map(({ count }) => count)), own.length)
    for (const { status, count } of stats.statusDistribution) {
      assert.equal(count, own.filter((order) => order.status === status).length, status)
    }
    stats.timeline.forEach((point, index) => {
      const end = stats.timeline[index + 1]?.date ?? '9999'
      const due = own.filter(({ placedAt }) => date(placedAt) >= point.date && date(placedAt) < end)
      const { orders: count, co2eKg, revenue } = sumOrders(due)
      assert.deepEqual(
        point,
        { date: point.date, orders: count, co2eKg, revenue },
        `${point.date} of ${range}`,
      )
    })
  }
}
