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
  return [
    ...single('q', 'Search'),
    ...(query.status ?? []).map((status) => ({
      id: `filter-${status}`,
      label: 'Status',
      value: STATUS_LABELS[status],
      href: buildUrlWithout('status', status),
    })),
    ...(query.calculatorType ?? []).map((type) => ({
      id: `filter-${type}`,
      label: 'Calculator',
      value: CALCULATOR_LABELS[type],
      href: buildUrlWithout('calculatorType', type),
    })),
    ...(query.exception ?? []).map((name) => ({
      id: `filter-${name}`,
      label: 'Attention',
      value: EXCEPTION_LABELS[name],
      href: buildUrlWithout('exception', name),
    })),
    ...(query.origin ?? []).map((origin) => ({
      id: `filter-origin-${origin}`,
      label: 'Origin',
      value: ORIGIN_NAMES[origin],
      href: buildUrlWithout('origin', origin),
    })),
    ...(query.paymentMethod ?? []).map((method) => ({
      id: `filter-method-${method}`,
      label: 'Payment by',
      value: METHOD_LABELS[method],
      href: buildUrlWithout('paymentMethod', method),
    })),
    ...(query.payment ?? []).map((payment) => ({
      id: `filter-payment-${payment}`,
      label: 'Payment',
      value: PAYMENT_LABELS[payment],
      href: buildUrlWithout('payment', payment),
    })),
    ...single('currency', 'Currency'),
    ...single('from', 'From', (value) => format.day(value)),
    ...single('to', 'To', (value) => format.day(value)),
  ]
}
