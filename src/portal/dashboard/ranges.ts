import { RANGES, type Range } from '../../orders/dashboard-stats.js'

const DEFAULT_RANGE: Range = '30d'

const RANGE_NAMES: Record<Range, string> = {
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
  all: 'All time',
}

/** How the time is called that a range is compared with; `null` where there is none. */
export const PREVIOUS_PERIOD_LABELS: Record<Range, string | null> = {
  '7d': 'the 7 days before',
  '30d': 'the 30 days before',
  '90d': 'the 90 days before',
  all: null,
}

/** The range that an address asks for, or the usual one. */
export const parseRange = (given: unknown): Range =>
  RANGES.find((range) => range === given) ?? DEFAULT_RANGE

/** The address of the dashboard with a range. */
export const buildRangeUrl = (range: Range): string => `/admin?range=${range}`

/** The ranges to choose from. */
export const buildRangeChoices = (chosen: Range) =>
  RANGES.map((range) => ({
    range,
    name: RANGE_NAMES[range],
    href: buildRangeUrl(range),
    current: range === chosen,
  }))
