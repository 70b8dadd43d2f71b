import { convertKilograms, toMassUnit } from '../calculator/units.js'
import type { DashboardStats, TimelineData } from '../orders/dashboard-stats.js'
import { formatIsoDate, startOfNextPeriod, parseDay } from '../core/formatting/day-calendar.js'
import { getMinorUnitDigits } from '../core/formatting/minor-units.js'
import type { Formatters } from '../core/formatting/formatters.js'
import type { DashboardFormatters } from './dashboard-formatters.js'
import { buildOrdersUrl } from './order-list-links.js'

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
export function buildTimelineView(input: TimelineInput) {
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
