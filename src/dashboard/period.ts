import { isDate } from '../core/validation/formats.js'
import {
  PRESET_RANGES,
  type DashboardStats,
  type PresetRange,
  type StatsPeriod,
} from '../orders/dashboard-stats.js'
import {
  buildListUrl,
  DEFAULT_PAGE_SIZE,
  DEFAULT_SORT,
  type ListQuery,
} from '../orders/order-filters.js'
import { isCounted, ORDER_STATUSES } from '../orders/order-status.js'

const DEFAULT_PERIOD: StatsPeriod = { range: '30d' }

const RANGE_LABELS: Record<PresetRange, string> = {
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
  all: 'All time',
}

/** The query parameters of the dashboard */
export interface RangeQuery {
  range?: unknown
  from?: unknown
  to?: unknown
}

const toDate = (value: unknown): string | null =>
  typeof value === 'string' && isDate(value) ? value : null

/** Parses the dashboard query: a range, or two days in either order. Falls back to 30 days. */
export function parsePeriod({ range, from, to }: RangeQuery): StatsPeriod {
  if (range === 'custom') {
    const [first, last] = [toDate(from), toDate(to)]
    if (first === null || last === null) return DEFAULT_PERIOD
    return first <= last ? { range, from: first, to: last } : { range, from: last, to: first }
  }
  const preset = PRESET_RANGES.find((name) => name === range)
  return preset === undefined ? DEFAULT_PERIOD : { range: preset }
}

/** Whether the first day of a custom period is after the last. */
export const isReversed = ({ range, from, to }: RangeQuery): boolean =>
  range === 'custom' && (toDate(from) ?? '') > (toDate(to) ?? '9')

/** The URL of the dashboard for a period. */
export const buildRangeUrl = (period: StatsPeriod): string =>
  `/admin?${new URLSearchParams({ ...period }).toString()}`

/** The range buttons, and the form for other periods. */
export const buildRangeChoices = (selected: StatsPeriod) => ({
  presets: PRESET_RANGES.map((range) => ({
    range,
    name: RANGE_LABELS[range],
    href: buildRangeUrl({ range }),
    isSelected: range === selected.range,
  })),
  custom:
    selected.range === 'custom'
      ? { isSelected: true, from: selected.from, to: selected.to }
      : { isSelected: false, from: '', to: '' },
})

/** Statuses that count towards CO₂e and revenue. */
export const COUNTED_STATUSES = ORDER_STATUSES.filter(isCounted)

/** The URL of the order list with these filters. */
export const buildOrdersUrl = (filters: Partial<ListQuery>): string =>
  buildListUrl({ sort: DEFAULT_SORT, page: 1, pageSize: DEFAULT_PAGE_SIZE, ...filters })

/** Date filters of the order list for the period of the statistics; none for all time. */
export const getDateFilters = ({
  range,
  from,
  to,
}: DashboardStats): Pick<ListQuery, 'from' | 'to'> => (range === 'all' ? {} : { from, to })
