import { Type, type Static } from '@sinclair/typebox'
import type { OrderDatabase } from '../order-store/sqlite/sqlite-order-store.js'
import {
  formatIsoDate,
  startOfNextPeriod,
  startOfPeriod,
  type Day,
  type Granularity,
} from './day-calendar.js'
import { fromStatusCode } from '../order-store/sqlite/order-row.js'
import {
  toKilograms,
  type AggregateReader,
  type Aggregates,
} from '../order-store/sqlite/aggregates.js'
import { isCounted, ORDER_STATUSES } from './order-status.js'
import { stringEnum } from '../validation/string-enum.js'
import { Currency, StatusSchema } from './order.js'

export const RANGES = ['7d', '30d', '90d', 'all'] as const
/** How far back statistics look; today is the last day. */
export type Range = (typeof RANGES)[number]

const RANGE_DAYS = { '7d': 7, '30d': 30, '90d': 90 } as const

const date = (description: string) => Type.String({ format: 'date', description })

const Revenue = Type.Array(Type.Object({ currency: Currency, amountMinor: Type.Integer() }), {
  description: 'By currency, without cancelled and refunded orders',
})

const figures = {
  orders: Type.Integer({ description: 'Orders placed, of any status' }),
  co2eKg: Type.Number({ description: 'kg CO2e, without cancelled and refunded orders' }),
  revenue: Revenue,
  fulfillment: Type.Object({
    fulfilled: Type.Integer({ description: 'Orders fulfilled' }),
    total: Type.Integer({ description: 'Orders placed, of any status' }),
    rate: Type.Number({ description: 'Their share, 0 to 1; 0 where there are none' }),
  }),
}
const Figures = Type.Object(figures)
type Figures = Static<typeof Figures>

/** A point of the timeline. */
export const TimelineData = Type.Object(
  {
    date: date('First day of the step'),
    orders: figures.orders,
    co2eKg: figures.co2eKg,
    revenue: Revenue,
  },
  { title: 'Point of the timeline' },
)
export type TimelineData = Static<typeof TimelineData>

/** What the dashboard shows. Days are days in TIME_ZONE. */
export const DashboardStats = Type.Object(
  {
    range: stringEnum<Range>(RANGES),
    from: date('First day'),
    to: date('Last day, included'),
    timeZone: Type.String(),
    ...figures,
    previous: Type.Unsafe<Figures | null>({
      ...Figures,
      type: ['object', 'null'],
      description: 'The same of as many days before; null for all time',
    }),
    step: stringEnum<Granularity>(['day', 'week', 'month'], {
      description: 'How far the points of the timeline are apart; weeks begin on Monday',
    }),
    timeline: Type.Array(TimelineData, { description: 'Steps without orders included' }),
    statusDistribution: Type.Array(Type.Object({ status: StatusSchema, count: Type.Integer() }), {
      description: 'Orders placed, by the status they have now',
    }),
  },
  { title: 'Dashboard' },
)
export type DashboardStats = Static<typeof DashboardStats>

type Money = Pick<Aggregates, 'currency' | 'amount_minor'>

function revenueOf(sums: Money[]): Figures['revenue'] {
  const amounts = new Map<string, number>()
  for (const { currency, amount_minor } of sums) {
    amounts.set(currency, (amounts.get(currency) ?? 0) + amount_minor)
  }
  return [...amounts]
    .map(([currency, amountMinor]) => ({ currency, amountMinor }))
    .sort((a, b) => (a.currency < b.currency ? -1 : 1))
}

type Mass = Pick<Aggregates, 'co2e_kg' | 'co2e_mg'>

function massOf(sums: Mass[]): number {
  // Whole numbers to the end, so that no order of adding changes the sum.
  const total = { co2e_kg: 0, co2e_mg: 0 }
  for (const { co2e_kg, co2e_mg } of sums) {
    total.co2e_kg += co2e_kg
    total.co2e_mg += co2e_mg
  }
  return toKilograms(total)
}

const countOf = (sums: { orders: number }[]): number =>
  sums.reduce((total, { orders }) => total + orders, 0)

function figuresOf(sums: Aggregates[]): Figures {
  const counted = sums.filter(
    ({ orders, status }) => orders > 0 && isCounted(fromStatusCode(status)),
  )
  const fulfilled = countOf(sums.filter(({ status }) => fromStatusCode(status) === 'fulfilled'))
  const total = countOf(sums)
  return {
    orders: total,
    co2eKg: massOf(counted),
    revenue: revenueOf(counted),
    fulfillment: { fulfilled, total, rate: total === 0 ? 0 : fulfilled / total },
  }
}

const LONGEST_BY_DAY = 92
const LONGEST_BY_WEEK = 366

const stepFor = (days: number): Granularity =>
  days <= LONGEST_BY_DAY ? 'day' : days <= LONGEST_BY_WEEK ? 'week' : 'month'

function timelineOf(sums: AggregateReader, step: Granularity, from: Day, to: Day): TimelineData[] {
  const first = startOfPeriod(step, from)
  const points = new Map<Day, ReturnType<AggregateReader['timeline']>>()
  for (const sum of sums.timeline(step, first, to)) {
    const known = points.get(sum.start)
    if (known === undefined) points.set(sum.start, [sum])
    else known.push(sum)
  }
  const timeline: TimelineData[] = []
  for (let start = first; start <= to; start = startOfNextPeriod(step, start)) {
    const own = points.get(start) ?? []
    timeline.push({
      date: formatIsoDate(start),
      orders: countOf(own),
      co2eKg: massOf(own),
      revenue: revenueOf(own.filter(({ counted }) => counted > 0)),
    })
  }
  return timeline
}

/** The days of a range; for all time from the first order to today, or to the last one. */
function daysOf(range: Range, sums: AggregateReader, today: Day): { from: Day; to: Day } {
  if (range !== 'all') return { from: today - RANGE_DAYS[range] + 1, to: today }
  return { from: sums.firstDay() ?? today, to: Math.max(today, sums.lastDay() ?? today) }
}

/** The dashboard's figures at a moment, ms since the epoch. */
export function calculateDashboardStats(
  book: OrderDatabase,
  range: Range,
  now: number,
): DashboardStats {
  return book.readSums((sums) => {
    const { from, to } = daysOf(range, sums, book.calendar.dayOf(now))
    const own = range === 'all' ? sums.sums({ from: null, to: null }) : sums.sums({ from, to })
    const before = { from: from - (to - from + 1), to: from - 1 }
    const step = stepFor(to - from + 1)
    return {
      range,
      from: formatIsoDate(from),
      to: formatIsoDate(to),
      timeZone: book.calendar.timeZone,
      ...figuresOf(own),
      previous: range === 'all' ? null : figuresOf(sums.sums(before)),
      step,
      timeline: timelineOf(sums, step, from, to),
      statusDistribution: ORDER_STATUSES.map((status) => ({
        status,
        count: countOf(own.filter((sum) => fromStatusCode(sum.status) === status)),
      })),
    }
  })
}
