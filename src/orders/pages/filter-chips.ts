import { buildListUrl, type ListQuery } from '../list-query.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import {
  CALCULATOR_LABELS,
  EXCEPTION_LABELS,
  METHOD_LABELS,
  ORIGIN_NAMES,
  PAYMENT_LABELS,
  STATUS_LABELS,
} from '../labels.js'

/** An active filter, and the URL without it. */
interface FilterChip {
  /** Stays the same, so that the chip keeps the focus when htmx swaps the list */
  id: string
  label: string
  value: string
  href: string
}

/** Counts the values of each active filter. */
export const countFilters = ({
  status = [],
  calculatorType = [],
  exception = [],
  origin = [],
  paymentMethod = [],
  payment = [],
  currency,
  from,
  to,
}: ListQuery) => ({
  status: status.length,
  exception: exception.length,
  calculatorType: calculatorType.length,
  origin: origin.length,
  payment: paymentMethod.length + payment.length,
  currency: Number(currency !== undefined),
  dates: Number(from !== undefined || to !== undefined),
})

/** Lists the active filters. */
export function buildFilterChips(query: ListQuery, format: Formatters): FilterChip[] {
  const buildUrlWithout = (name: keyof ListQuery, value?: string): string => {
    const others = [query[name]].flat().filter((other) => value !== undefined && other !== value)
    return buildListUrl({ ...query, page: 1, [name]: others.length > 0 ? others : undefined })
  }
  const single = (
    name: 'q' | 'currency' | 'from' | 'to',
    label: string,
    toText = (value: string): string => value,
  ): FilterChip[] => {
    const value = query[name]
    return value
      ? [{ id: `filter-${name}`, label, value: toText(value), href: buildUrlWithout(name) }]
      : []
  }
  const each = <T extends string>(
    name: keyof ListQuery,
    label: string,
    labels: Record<T, string>,
    values: readonly T[] = [],
    idPrefix = 'filter',
  ): FilterChip[] =>
    values.map((value) => ({
      id: `${idPrefix}-${value}`,
      label,
      value: labels[value],
      href: buildUrlWithout(name, value),
    }))
  return [
    ...single('q', 'Search'),
    ...each('status', 'Status', STATUS_LABELS, query.status),
    ...each('calculatorType', 'Calculator', CALCULATOR_LABELS, query.calculatorType),
    ...each('exception', 'Attention', EXCEPTION_LABELS, query.exception),
    ...each('origin', 'Origin', ORIGIN_NAMES, query.origin, 'filter-origin'),
    ...each('paymentMethod', 'Payment by', METHOD_LABELS, query.paymentMethod, 'filter-method'),
    ...each('payment', 'Payment', PAYMENT_LABELS, query.payment, 'filter-payment'),
    ...single('currency', 'Currency'),
    ...single('from', 'From', (value) => format.day(value)),
    ...single('to', 'To', (value) => format.day(value)),
  ]
}
