import { convertKilograms, type MassUnit } from '../calculator/units.js'
import { parseDay, type Granularity } from '../core/formatting/day-calendar.js'
import { toMassUnit } from '../core/formatting/number-formatter.js'
import type { Formatters } from '../core/formatting/portal-formatters.js'
import type { DashboardStats } from '../orders/dashboard-stats.js'
import { PAID_STATUSES } from '../orders/order-status.js'
import { buildOrdersUrl, COUNTED_STATUSES, getDateFilters } from './period.js'

const toUtcDate = (isoDate: string): Date => new Date(`${isoDate}T00:00:00Z`)

/** Locale formatters that only the dashboard needs, in addition to the shared ones. */
export function createDashboardFormatters(locale: string) {
  // Calendar days are formatted in UTC, because they do not depend on a time zone.
  const createDateFormat = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
  const oneDecimal = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  const share = new Intl.NumberFormat(locale, { style: 'percent', ...oneDecimal })
  const decimal = new Intl.NumberFormat(locale, oneDecimal)
  const twoDigits = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 })
  const upToOneDecimal = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
  // The unit is in English, like the surrounding sentence; the number follows the locale.
  const formatDuration = (value: number, unit: string): string => {
    const number = upToOneDecimal.format(value)
    return `${number} ${number === '1' ? unit : `${unit}s`}`
  }
  const period = createDateFormat({ dateStyle: 'medium' })
  const date = createDateFormat({ day: 'numeric', month: 'short' })
  const day = createDateFormat({ weekday: 'short', day: 'numeric', month: 'short' })
  const month = createDateFormat({ month: 'long', year: 'numeric' })
  const shortMonth = createDateFormat({ month: 'short', year: 'numeric' })
  return {
    locale,
    /** A ratio (0 to 1) as a percentage with one decimal, so that columns align */
    share: (ratio: number): string => share.format(ratio),
    /** A number with one decimal */
    decimal: (value: number): string => decimal.format(value),
    /** A rate; values below 0.1 keep two significant digits instead of rounding to zero */
    rate: (value: number): string =>
      value > 0 && value < 0.1 ? twoDigits.format(value) : decimal.format(value),
    /** A mass in kg, converted to a readable unit */
    mass(kg: number): { value: string; unit: MassUnit } {
      const unit = toMassUnit(kg)
      return { value: decimal.format(convertKilograms(kg, unit)), unit }
    },
    /** A duration in hours, shown in days from 48 hours */
    duration: (value: number): string =>
      value < 48 ? formatDuration(value, 'hour') : formatDuration(value / 24, 'day'),
    /** A day, without its year */
    date: (isoDate: string): string => date.format(toUtcDate(isoDate)),
    /** A range of ISO dates, both inclusive */
    period: (from: string, to: string): string =>
      from === to
        ? period.format(toUtcDate(from))
        : period.formatRange(toUtcDate(from), toUtcDate(to)),
    /** A day, week or month of the timeline, given its first and last day */
    timelinePeriod: (granularity: Granularity, from: string, to: string): string => {
      if (granularity === 'week') return period.formatRange(toUtcDate(from), toUtcDate(to))
      return (granularity === 'day' ? day : month).format(toUtcDate(from))
    },
    /** A day, week or month of the timeline as a short label, given its first day */
    axisLabel: (granularity: Granularity, from: string): string =>
      (granularity === 'month' ? shortMonth : date).format(toUtcDate(from)),
  }
}

export type DashboardFormatters = ReturnType<typeof createDashboardFormatters>

/** How a value changed since the previous period. An increase is not shown as good or bad. */
type PeriodChange =
  | { type: 'change'; sign: '▲' | '▼'; direction: 'Up' | 'Down'; amount: string; period: string }
  | { type: 'text'; text: string }

const MIN_SHOWN_RATIO = 0.005

const buildChange = (isIncrease: boolean, amount: string, period: string): PeriodChange => ({
  type: 'change',
  ...(isIncrease ? { sign: '▲', direction: 'Up' } : { sign: '▼', direction: 'Down' }),
  amount,
  period: `vs ${period}`,
})

const noChange = (period: string): PeriodChange => ({
  type: 'text',
  text: `No change from the ${period}`,
})

/** Change in a sum, as a percentage of the previous value. */
function formatSumChange(
  current: number,
  previous: number,
  period: string,
  formatPercent: (ratio: number) => string,
): PeriodChange {
  if (current === previous) return noChange(period)
  if (previous === 0) return { type: 'text', text: `None in the ${period}` }
  const ratio = Math.abs(current / previous - 1)
  const amount = ratio < MIN_SHOWN_RATIO ? `less than ${formatPercent(0.01)}` : formatPercent(ratio)
  return buildChange(current > previous, amount, period)
}

/** Change in a rate (0 to 1), in percentage points. */
function formatRateChange(
  current: number,
  previous: number,
  period: string,
  formatDecimal: (value: number) => string,
): PeriodChange {
  const points = Math.round((current - previous) * 1000) / 10
  if (points === 0) return noChange(period)
  return buildChange(points > 0, `${formatDecimal(Math.abs(points))} points`, period)
}

/** One of the four metrics at the top of the dashboard. */
interface Card {
  name: string
  title: string
  subtitle?: string
  /** URL of the list of orders that the value is based on */
  href: string
  value: string
  unit?: string
  notes: string[]
  /** Further notes, shown when the user opens them */
  folded?: { summary: string; notes: string[][] }
  change: PeriodChange | null
}

interface CardInput {
  stats: DashboardStats
  /** Main currency first */
  currencies: string[]
  formatters: Formatters
  dashboardFormatters: DashboardFormatters
}

const getAmount = (revenue: DashboardStats['revenue'], currency: string): number =>
  revenue.find((entry) => entry.currency === currency)?.amountMinor ?? 0

/** Builds the four cards. Revenue is shown per currency and never added up across currencies. */
export function buildCards({
  stats,
  currencies,
  formatters,
  dashboardFormatters,
}: CardInput): Card[] {
  const { count, percent } = formatters
  const { date, decimal, duration, rate, share } = dashboardFormatters
  const { co2eKg, fulfillmentCohort: cohort, orders, previous, range, revenue } = stats
  const { paidRevenue, outstandingRevenue } = stats
  const days = getDateFilters(stats)
  const counted = { ...days, status: COUNTED_STATUSES }
  const countedOrders = stats.statusDistribution
    .filter(({ status }) => COUNTED_STATUSES.includes(status))
    .reduce((total, entry) => total + entry.count, 0)
  const dayCount = parseDay(stats.to) - parseDay(stats.from) + 1
  const co2e = dashboardFormatters.mass(co2eKg)
  const co2ePerOrder = convertKilograms(countedOrders === 0 ? 0 : co2eKg / countedOrders, co2e.unit)

  const formatPaid = (currency: string): string =>
    formatters.money(getAmount(paidRevenue, currency), currency)
  const formatOutstanding = (currency: string): string =>
    `${formatters.money(getAmount(outstandingRevenue, currency), currency)} outstanding`
  /** Omits parts that are 0. */
  function formatRevenue(currency: string): string[] {
    const [paid, outstanding] = [paidRevenue, outstandingRevenue].map((amounts) =>
      getAmount(amounts, currency),
    )
    if (outstanding === 0) return [formatPaid(currency)]
    return [...(paid === 0 ? [] : [formatPaid(currency)]), formatOutstanding(currency)]
  }

  const [main = '', ...others] = currencies
  const otherAmounts = others
    .filter((currency) => revenue.some((entry) => entry.currency === currency))
    .map(formatRevenue)

  const period =
    range === 'all' ? null : dayCount === 1 ? 'previous day' : `previous ${dayCount} days`
  type Previous = NonNullable<typeof previous>
  const buildChange = (format: (before: Previous, period: string) => PeriodChange) => {
    if (previous === null || period === null) return null
    if (previous.orders === 0) return { type: 'text' as const, text: `No orders in the ${period}` }
    return format(previous, period)
  }
  const buildSumChange = (getValue: (values: Previous | DashboardStats) => number) =>
    buildChange((before, period) =>
      formatSumChange(getValue(stats), getValue(before), period, percent),
    )

  function buildCohortChange(): PeriodChange | null {
    if (period === null || cohort.total === 0) return null
    return cohort.previousRate === null
      ? { type: 'text', text: `No orders in the ${period}` }
      : formatRateChange(cohort.rate, cohort.previousRate, period, decimal)
  }

  return [
    {
      name: 'orders',
      title: 'Orders',
      href: buildOrdersUrl(days),
      value: count(orders),
      notes: [`${rate(orders / dayCount)} per day`],
      change: buildSumChange((values) => values.orders),
    },
    {
      name: 'co2e',
      title: 'CO₂e',
      href: buildOrdersUrl({ ...counted, sort: '-co2eKg' }),
      ...co2e,
      notes: [`${rate(co2ePerOrder)} ${co2e.unit} per order`],
      change: buildSumChange((values) => values.co2eKg),
    },
    {
      name: 'revenue',
      title: 'Revenue',
      subtitle: 'paid',
      href: buildOrdersUrl({
        ...days,
        status: [...PAID_STATUSES],
        currency: main,
        sort: '-amountMinor',
      }),
      value: formatPaid(main),
      notes: [
        formatOutstanding(main),
        ...(otherAmounts.length === 1 ? otherAmounts.map((parts) => parts.join(', ')) : []),
      ],
      ...(otherAmounts.length > 1 && {
        folded: { summary: `${otherAmounts.length} more currencies`, notes: otherAmounts },
      }),
      change: buildSumChange((values) => getAmount(values.paidRevenue, main)),
    },
    {
      name: 'fulfilment',
      title: 'Fulfilment',
      href: buildOrdersUrl({
        ...(cohort.from === null ? {} : { from: cohort.from }),
        to: cohort.to,
        status: ['fulfilled'],
      }),
      value: cohort.total === 0 ? '–' : share(cohort.rate),
      notes: [
        `${count(cohort.fulfilled)} of ${count(cohort.total)} ${cohort.total === 1 ? 'order' : 'orders'} up to ${date(cohort.to)}`,
        ...(cohort.medianHours === null ? [] : [`Median time ${duration(cohort.medianHours)}`]),
      ],
      change: buildCohortChange(),
    },
  ]
}
