import { Type, type Static } from '@sinclair/typebox'
import {
  formatIsoDate,
  parseDay,
  startOfNextPeriod,
  startOfPeriod,
  type Day,
  type Granularity,
} from '../core/formatting/day-calendar.js'
import { HOUR_MS } from '../core/time.js'
import { nullable, stringEnum } from '../core/validation/formats.js'
import { MAX_COUNTED_EXCEPTIONS, type OrderException } from './order-filters.js'
import { ORDER_STATUSES, type OrderStatus } from './order-status.js'
import { Currency, StatusSchema } from './order.js'
import type { OrderStatistics, OrderStore, OrderSummary, Timeline } from './store/order-store.js'

export const PRESET_RANGES = ['7d', '30d', '90d', 'all'] as const
/** A period that ends today; `all` also includes orders with a date in the future. */
export type PresetRange = (typeof PRESET_RANGES)[number]

export const RANGES = [...PRESET_RANGES, 'custom'] as const
export type Range = (typeof RANGES)[number]

/** The period of the statistics: ISO dates, both inclusive. */
export type StatsPeriod = { range: PresetRange } | { range: 'custom'; from: string; to: string }

const RANGE_DAYS = { '7d': 7, '30d': 30, '90d': 90 } as const

const date = (description: string) => Type.String({ format: 'date', description })

const revenue = (description: string) =>
  Type.Array(Type.Object({ currency: Currency, amountMinor: Type.Integer() }), { description })

const Revenue = revenue('Revenue by currency, excluding cancelled and refunded orders')

const figures = {
  orders: Type.Integer({ description: 'Number of orders, of any status' }),
  co2eKg: Type.Number({ description: 'kg CO2e, excluding cancelled and refunded orders' }),
  revenue: Revenue,
  paidRevenue: revenue('The part of the revenue that is paid: paid, processing, fulfilled'),
  outstandingRevenue: revenue('The part of the revenue that is not paid yet: pending'),
  fulfillment: Type.Object({
    fulfilled: Type.Integer({ description: 'Number of fulfilled orders' }),
    total: Type.Integer({ description: 'Number of orders, of any status' }),
    rate: Type.Number({ description: 'Share of fulfilled orders, 0 to 1; 0 if there are none' }),
  }),
}

/** Orders count in the cohort when they are at least this old. */
const COHORT_AGE_DAYS = 7

const FulfillmentCohort = Type.Object(
  {
    from: nullable(date('First day; null for all time')),
    to: date('Last day (inclusive): a week before the last day of the range'),
    fulfilled: Type.Integer({ description: 'Number of fulfilled orders' }),
    total: Type.Integer({ description: 'Number of orders, excluding cancelled and refunded ones' }),
    rate: Type.Number({ description: 'Share of fulfilled orders, 0 to 1; 0 if there are none' }),
    previousRate: nullable(
      Type.Number({
        description:
          'The same for the preceding period; null if it has no orders, and for all time',
      }),
    ),
    medianHours: nullable(
      Type.Number({
        description:
          'Median time from placement to fulfilment of the newest 1,000 orders; null if none',
      }),
    ),
  },
  {
    description:
      'Fulfilment of the orders placed in a period as long as the range, but ending a week earlier, so that each order has had a week to be fulfilled',
  },
)
type FulfillmentCohort = Static<typeof FulfillmentCohort>

const Figures = Type.Object(figures)
type Figures = Static<typeof Figures>

/** One point of the timeline. */
export const TimelineData = Type.Object(
  {
    date: date('First day of the period'),
    orders: figures.orders,
    co2eKg: figures.co2eKg,
    revenue: Revenue,
  },
  { title: 'Point of the timeline' },
)
export type TimelineData = Static<typeof TimelineData>

const exceptionCounts = {
  not_placed: Type.Integer({ description: 'Paid, but not placed with the provider' }),
  placement_unknown: Type.Integer({ description: 'Sent to the provider, outcome unknown' }),
  differs: Type.Integer({
    description: 'Placed with values that differ from what was confirmed or from the current order',
  }),
  not_refunded: Type.Integer({ description: 'Paid and cancelled, but not refunded' }),
  no_evidence: Type.Integer({
    description:
      'Ordered by a guest and fulfilled, without evidence that carbon credits were retired',
  }),
} satisfies Record<OrderException, unknown>

/** The figures of the dashboard. Days are days in TIME_ZONE. */
export const DashboardStats = Type.Object(
  {
    range: stringEnum<Range>(RANGES),
    from: date('First day'),
    to: date('Last day (inclusive)'),
    timeZone: Type.String(),
    ...figures,
    previous: nullable({
      ...Figures,
      description: 'The figures for the preceding period of the same length; null for all time',
    }),
    fulfillmentCohort: FulfillmentCohort,
    exceptions: Type.Object(exceptionCounts, {
      description: `Number of orders that need attention, for all time, counted up to ${MAX_COUNTED_EXCEPTIONS.toLocaleString('en')}`,
    }),
    step: stringEnum<Granularity>(['day', 'week', 'month'], {
      description: 'Granularity of the timeline; weeks start on Monday',
    }),
    timeline: Type.Array(TimelineData, { description: 'Includes periods without orders' }),
    statusDistribution: Type.Array(Type.Object({ status: StatusSchema, count: Type.Integer() }), {
      description: 'Number of orders by current status',
    }),
  },
  { title: 'Dashboard' },
)
export type DashboardStats = Static<typeof DashboardStats>

function toFigures({ ordersByStatus, ...totals }: OrderSummary): Figures {
  const { orders: total } = totals
  const { fulfilled } = ordersByStatus
  return {
    ...totals,
    fulfillment: { fulfilled, total, rate: total === 0 ? 0 : fulfilled / total },
  }
}

type StatusCounts = Record<OrderStatus, number>

const getShare = ({ fulfilled, pending, paid, processing }: StatusCounts) => {
  const total = pending + paid + processing + fulfilled
  return { fulfilled, total, rate: total === 0 ? 0 : fulfilled / total }
}

const subtract = (counts: StatusCounts, others: StatusCounts): StatusCounts =>
  Object.fromEntries(
    ORDER_STATUSES.map((status) => [status, counts[status] - others[status]]),
  ) as StatusCounts

/** @param allTime the counts of all orders, for the cohort of all time */
async function getCohort(
  statistics: OrderStatistics,
  { from, to }: { from: Day; to: Day },
  allTime: StatusCounts | null,
): Promise<FulfillmentCohort> {
  const days = to - from + 1
  const range = {
    from: allTime === null ? from - COHORT_AGE_DAYS : null,
    to: to - COHORT_AGE_DAYS,
  }
  const counts =
    allTime === null
      ? await statistics.countByStatus(range)
      : // Reads fewer totals than the cohort itself.
        subtract(allTime, await statistics.countByStatus({ from: range.to + 1, to: null }))
  const previous =
    range.from === null
      ? null
      : getShare(await statistics.countByStatus({ from: range.from - days, to: range.from - 1 }))
  const medianTime = await statistics.getMedianFulfilmentTime(range)
  return {
    from: range.from === null ? null : formatIsoDate(range.from),
    to: formatIsoDate(range.to),
    ...getShare(counts),
    previousRate: previous === null || previous.total === 0 ? null : previous.rate,
    medianHours: medianTime === null ? null : Math.round((medianTime / HOUR_MS) * 10) / 10,
  }
}

const MAX_DAYS_BY_DAY = 92
const MAX_DAYS_BY_WEEK = 366

const chooseGranularity = (days: number): Granularity =>
  days <= MAX_DAYS_BY_DAY ? 'day' : days <= MAX_DAYS_BY_WEEK ? 'week' : 'month'

function buildTimeline(
  points: Timeline['points'],
  granularity: Granularity,
  from: Day,
  to: Day,
): TimelineData[] {
  const timeline: TimelineData[] = []
  for (
    let start = startOfPeriod(granularity, from);
    start <= to;
    start = startOfNextPeriod(granularity, start)
  ) {
    const { orders, co2eKg, revenue } = points.get(start) ?? { orders: 0, co2eKg: 0, revenue: [] }
    timeline.push({ date: formatIsoDate(start), orders, co2eKg, revenue })
  }
  return timeline
}

async function getDays(
  period: StatsPeriod,
  statistics: OrderStatistics,
  today: Day,
): Promise<{ from: Day; to: Day }> {
  if (period.range === 'custom') return { from: parseDay(period.from), to: parseDay(period.to) }
  const { range } = period
  if (range !== 'all') return { from: today - RANGE_DAYS[range] + 1, to: today }
  const { from, to } = (await statistics.getDayRange()) ?? { from: today, to: today }
  return { from, to: Math.max(today, to) }
}

/**
 * Calculates the figures of the dashboard.
 *
 * @param now ms since 1970
 */
export function calculateDashboardStats(
  store: Pick<OrderStore, 'calendar' | 'readStatistics'>,
  period: StatsPeriod,
  now: number,
): Promise<DashboardStats> {
  const { range } = period
  return store.readStatistics(async (statistics) => {
    const { from, to } = await getDays(period, statistics, store.calendar.dayOf(now))
    const days = to - from + 1
    const isAllTime = range === 'all'
    const granularity = chooseGranularity(days)
    const { points, summary: total } = await statistics.getTimeline(granularity, from, to)
    // The first and last week or month can have more days than the period.
    const summary =
      isAllTime || granularity === 'day' ? total : await statistics.getSummary({ from, to })
    return {
      range,
      from: formatIsoDate(from),
      to: formatIsoDate(to),
      timeZone: store.calendar.timeZone,
      ...toFigures(summary),
      previous: isAllTime
        ? null
        : toFigures(await statistics.getSummary({ from: from - days, to: from - 1 })),
      fulfillmentCohort: await getCohort(
        statistics,
        // The range `all` may end in the future; its cohort ends a week before today.
        { from, to: isAllTime ? store.calendar.dayOf(now) : to },
        isAllTime ? summary.ordersByStatus : null,
      ),
      exceptions: await statistics.countExceptions(),
      step: granularity,
      timeline: buildTimeline(points, granularity, from, to),
      statusDistribution: ORDER_STATUSES.map((status) => ({
        status,
        count: summary.ordersByStatus[status],
      })),
    }
  })
}
