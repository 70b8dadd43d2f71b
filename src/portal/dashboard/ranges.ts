import { RANGES, type Range } from '../../orders/dashboard-stats.js'

const DEFAULT_RANGE: Range = '30d'

const RANGE_LABELS: Record<Range, string> = {
  '7d': '7 days',
  '30d': '30 days',
  '90d': '90 days',
  all: 'All time',
}

/** The period that a range is compared with; `null` if there is none. */
export const PREVIOUS_PERIOD_LABELS: Record<Range, string | null> = {
  '7d': 'previous 7 days',
  '30d': 'previous 30 days',
  '90d': 'previous 90 days',
  all: null,
}

/** Parses the `range` query parameter; falls back to the default range. */
export const parseRange = (value: unknown): Range =>
  RANGES.find((range) => range === value) ?? DEFAULT_RANGE

/** The URL of the dashboard for a range. */
export const buildRangeUrl = (range: Range): string => `/admin?range=${range}`

/** The range buttons. */
export const buildRangeChoices = (selected: Range) =>
  RANGES.map((range) => ({
    range,
    name: RANGE_LABELS[range],
    href: buildRangeUrl(range),
    isSelected: range === selected,
  }))
