import {
  formatIsoDate,
  startOfPeriod,
  type Day,
  type DayCalendar,
} from '../../core/formatting/day-calendar.js'
import type { Formatters } from '../../core/formatting/portal-formatters.js'
import {
  CALCULATOR_LABELS,
  EXCEPTION_LABELS,
  METHOD_LABELS,
  ORIGIN_NAMES,
  PAYMENT_LABELS,
  STATUS_LABELS,
} from '../labels.js'
import { buildListUrl, type ListQuery } from '../order-filters.js'

type ChoiceFilter =
  'status' | 'calculatorType' | 'exception' | 'origin' | 'paymentMethod' | 'payment'

interface Choices {
  /** Above the checkboxes */
  legend: string
  /** In the chip of an active filter */
  chip: string
  /** Of the chips, which keep the focus when htmx swaps the list */
  idPrefix: string
  labels: Record<string, string>
}

/** The filters by any of several values. */
const CHOICES: Record<ChoiceFilter, Choices> = {
  status: { legend: 'Status', chip: 'Status', idPrefix: 'filter', labels: STATUS_LABELS },
  calculatorType: {
    legend: 'Calculator',
    chip: 'Calculator',
    idPrefix: 'filter',
    labels: CALCULATOR_LABELS,
  },
  exception: {
    legend: 'Needs attention',
    chip: 'Attention',
    idPrefix: 'filter',
    labels: EXCEPTION_LABELS,
  },
  origin: { legend: 'Origin', chip: 'Origin', idPrefix: 'filter-origin', labels: ORIGIN_NAMES },
  paymentMethod: {
    legend: 'Method',
    chip: 'Payment by',
    idPrefix: 'filter-method',
    labels: METHOD_LABELS,
  },
  payment: {
    legend: 'Through Stripe',
    chip: 'Payment',
    idPrefix: 'filter-payment',
    labels: PAYMENT_LABELS,
  },
}

const MENUS: readonly [name: string, title: string, filters: ChoiceFilter[]][] = [
  ['status', 'Status', ['status']],
  ['exception', 'Attention', ['exception']],
  ['calculatorType', 'Calculator', ['calculatorType']],
  ['origin', 'Origin', ['origin']],
  ['payment', 'Payment', ['paymentMethod', 'payment']],
]

const getSelected = (query: ListQuery, filter: ChoiceFilter): readonly string[] =>
  query[filter] ?? []

/** Counts the values in use in each menu. */
export const countFilters = (query: ListQuery): Record<string, number> => ({
  ...Object.fromEntries(
    MENUS.map(([name, , filters]) => [
      name,
      filters.flatMap((filter) => getSelected(query, filter)).length,
    ]),
  ),
  currency: Number(query.currency !== undefined),
  dates: Number(query.from !== undefined || query.to !== undefined),
})

/** The menus of filters by any of several values. */
export const buildFilterMenus = (query: ListQuery) =>
  MENUS.map(([name, title, filters]) => ({
    name,
    title,
    groups: filters.map((filter) => ({
      filter,
      legend: CHOICES[filter].legend,
      choices: Object.entries(CHOICES[filter].labels).map(([value, label]) => ({
        value,
        label,
        isSelected: getSelected(query, filter).includes(value),
      })),
    })),
  }))

/** Lists the active filters, each with the URL of the list without it. */
export function buildFilterChips(query: ListQuery, format: Formatters) {
  const buildUrlWithout = (name: keyof ListQuery, value?: string): string => {
    const others = [query[name]].flat().filter((other) => value !== undefined && other !== value)
    return buildListUrl({ ...query, page: 1, [name]: others.length > 0 ? others : undefined })
  }
  const single = (
    name: 'q' | 'currency' | 'from' | 'to',
    label: string,
    toText = (value: string): string => value,
  ) => {
    const value = query[name]
    return value
      ? [{ id: `filter-${name}`, label, value: toText(value), href: buildUrlWithout(name) }]
      : []
  }
  const choices = Object.entries(CHOICES) as [ChoiceFilter, Choices][]
  return [
    ...single('q', 'Search'),
    ...choices.flatMap(([filter, { chip, idPrefix, labels }]) =>
      getSelected(query, filter).map((value) => ({
        id: `${idPrefix}-${value}`,
        label: chip,
        value: labels[value] ?? value,
        href: buildUrlWithout(filter, value),
      })),
    ),
    ...single('currency', 'Currency'),
    ...single('from', 'From', (value) => format.day(value)),
    ...single('to', 'To', (value) => format.day(value)),
  ]
}

/** Links to the list with common ranges of days, relative to today in the calendar's time zone. */
export function buildDatePresets(query: ListQuery, calendar: DayCalendar) {
  const today = calendar.dayOf(Date.now())
  const monthStart = startOfPeriod('month', today)
  const ranges: [name: string, first: Day, last: Day][] = [
    ['Today', today, today],
    ['Last 7 days', today - 6, today],
    ['This month', monthStart, today],
    ['Last month', startOfPeriod('month', monthStart - 1), monthStart - 1],
  ]
  return ranges.map(([name, first, last]) => {
    const [from, to] = [formatIsoDate(first), formatIsoDate(last)]
    return {
      name,
      href: buildListUrl({ ...query, page: 1, from, to }),
      isSelected: query.from === from && query.to === to,
    }
  })
}
