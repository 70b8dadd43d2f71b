import { convertKilograms, toMassUnit } from '../../calculator/units.js'
import { formatIsoDate, startOfNextPeriod, parseDay } from '../../orders/day-calendar.js'
import type { Formatters } from '../formatters.js'
import { getMinorUnitDigits } from '../../orders/minor-units.js'
import type { DashboardStats, TimelineData } from '../../orders/dashboard-stats.js'
import type { DashboardFormatters } from './dashboard-formatters.js'
import { buildOrdersUrl } from './order-list-links.js'

const STEP_NAMES = { day: 'day', week: 'week', month: 'month' }

interface Given {
  stats: DashboardStats
  currency: string
  today: string
  figures: Formatters
  words: DashboardFormatters
}

/** What the timeline can show of each step: its value for the chart and as people read it. */
function measuresOf({ stats, currency, figures, words }: Given) {
  const unit = toMassUnit(Math.max(...stats.timeline.map(({ co2eKg }) => co2eKg)))
  const minorOf = ({ revenue }: Pick<TimelineData, 'revenue'>): number =>
    revenue.find((one) => one.currency === currency)?.amountMinor ?? 0
  return [
    {
      name: 'orders',
      label: 'Orders',
      unit: '',
      value: (point: Pick<TimelineData, 'orders'>) => point.orders,
      text: (point: Pick<TimelineData, 'orders'>) => figures.count(point.orders),
    },
    {
      name: 'co2e',
      label: 'CO₂e',
      unit,
      value: (point: Pick<TimelineData, 'co2eKg'>) => convertKilograms(point.co2eKg, unit),
      text: (point: Pick<TimelineData, 'co2eKg'>) =>
        words.tenths(convertKilograms(point.co2eKg, unit)),
    },
    {
      name: 'revenue',
      label: 'Revenue',
      unit: currency,
      value: (point: Pick<TimelineData, 'revenue'>) =>
        minorOf(point) / 10 ** getMinorUnitDigits(currency),
      text: (point: Pick<TimelineData, 'revenue'>) => figures.money(minorOf(point), currency),
    },
  ]
}

/** Orders over time, as the table that the chart is drawn from. */
export function buildTimelineView(given: Given) {
  const { stats, today, words } = given
  const { step, timeline } = stats
  const measures = measuresOf(given)
  const cells = (point: Omit<TimelineData, 'date'>) =>
    measures.map(({ value, text }) => ({ value: value(point), text: text(point) }))
  return {
    step: STEP_NAMES[step],
    locale: words.locale,
    measures: measures.map(({ name, label, unit }, index) => ({
      name,
      label,
      unit,
      shown: index === 0,
    })),
    rows: timeline.map((point) => {
      const last = formatIsoDate(startOfNextPeriod(step, parseDay(point.date)) - 1)
      return {
        date: point.date,
        name: words.step(step, point.date, last),
        tick: words.tick(step, point.date),
        // Not over yet, so less than it will be.
        unfinished: last >= today,
        href: buildOrdersUrl({ from: point.date, to: last }),
        cells: cells(point),
      }
    }),
    total: cells(stats),
  }
}
