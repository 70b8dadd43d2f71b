import { Type, type Static, type TSchema } from '@sinclair/typebox'
import { CALCULATOR_TYPES, type CalculatorType } from '../calculator/calculator-data.js'
import type { FieldError } from '../core/validation/field-errors.js'
import { stringEnum } from '../core/validation/formats.js'
import { PAYMENT_METHODS, type PaymentMethod } from './order-checkout.js'
import { ORDER_STATUSES } from './order-status.js'
import { Currency, ORDER_ORIGINS, StatusSchema, type OrderOrigin } from './order.js'
import { validators } from './validators.js'

const date = (description: string) =>
  Type.String({
    format: 'date',
    'x-message': 'must be a date from 1900 to 2199, such as 2026-11-20',
    description,
  })

export const MAX_SEARCH_LENGTH = 200

/** Problems that need the attention of an administrator. */
export const ORDER_EXCEPTIONS = [
  'not_placed',
  'placement_unknown',
  'differs',
  'not_refunded',
  'no_evidence',
] as const
export type OrderException = (typeof ORDER_EXCEPTIONS)[number]
/** Orders with an exception are counted up to this number, so that the count is fast. */
export const MAX_COUNTED_EXCEPTIONS = 10_000

/**
 * The status of an order's latest Stripe payment, or whether the payment is disputed or has a
 * problem.
 */
const PAYMENT_FILTERS = [
  'open',
  'processing',
  'paid',
  'partially_refunded',
  'refunded',
  'failed',
  'expired',
  'disputed',
  'problem',
] as const
export type PaymentFilter = (typeof PAYMENT_FILTERS)[number]

/** Several values of a filter; a longer list would repeat one. */
const anyOf = <S extends TSchema>(schema: S, { length }: readonly string[], description: string) =>
  Type.Optional(Type.Array(schema, { maxItems: length, description }))

/** Filters of a list; an order must match all of them. */
export const OrderFilters = Type.Object({
  q: Type.Optional(
    Type.String({
      maxLength: MAX_SEARCH_LENGTH,
      format: 'text',
      description:
        'Words to search for; each must occur in the order number, customer name, email, vessel name or IMO number, or equal the amount. A whole provider order ID, Stripe session or payment ID, or certificate code or number is found too',
    }),
  ),
  status: anyOf(StatusSchema, ORDER_STATUSES, 'Any of these; can be repeated'),
  calculatorType: anyOf(
    stringEnum<CalculatorType>(CALCULATOR_TYPES),
    CALCULATOR_TYPES,
    'Any of these; can be repeated',
  ),
  exception: anyOf(
    stringEnum<OrderException>(ORDER_EXCEPTIONS),
    ORDER_EXCEPTIONS,
    'Orders that need attention, any of these: paid but not placed with the provider; sent to the provider with an unknown outcome; placed with values that differ from what was confirmed or from the current order; paid and cancelled, but not refunded; ordered by a guest and fulfilled, without evidence that carbon credits were retired',
  ),
  origin: anyOf(
    stringEnum<OrderOrigin>(ORDER_ORIGINS),
    ORDER_ORIGINS,
    'Who created the order, any of these; can be repeated',
  ),
  paymentMethod: anyOf(
    stringEnum<PaymentMethod>(PAYMENT_METHODS),
    PAYMENT_METHODS,
    'How a guest pays, any of these; can be repeated',
  ),
  payment: anyOf(
    stringEnum<PaymentFilter>(PAYMENT_FILTERS),
    PAYMENT_FILTERS,
    'Orders whose latest Stripe payment has any of these statuses, has a dispute that was not won (disputed), or needs attention (problem)',
  ),
  currency: Type.Optional(Currency),
  from: Type.Optional(date('Ordered on or after this day in TIME_ZONE')),
  to: Type.Optional(date('Ordered on or before this day in TIME_ZONE')),
})
export type OrderFilters = Static<typeof OrderFilters> & {
  /** IDs of the orders that match the payment filter; order stores contain no payments */
  ids?: readonly number[]
}

/** Whether the filters are by day, status and currency only, like the totals that are stored. */
export const areTotalsFilters = ({
  q = '',
  calculatorType = [],
  exception = [],
  origin = [],
  paymentMethod = [],
  ids,
}: OrderFilters): boolean =>
  q.trim() === '' &&
  [calculatorType, exception, origin, paymentMethod].every((values) => values.length === 0) &&
  ids === undefined

/** Finds errors in the combination of filters that are valid on their own. */
export const findFilterErrors = ({ from, to }: OrderFilters): FieldError[] =>
  from !== undefined && to !== undefined && to < from
    ? [{ path: 'to', message: 'must not be before from' }]
    : []

const SORT_FIELDS = [
  'placedAt',
  'orderNumber',
  'customerName',
  'vesselName',
  'co2eKg',
  'amountMinor',
  'status',
] as const
export type SortField = (typeof SORT_FIELDS)[number]

/** A sort field; a leading `-` sorts in descending order. */
export type OrderSort = SortField | `-${SortField}`
export const ORDER_SORTS: readonly OrderSort[] = SORT_FIELDS.flatMap(
  (field) => [field, `-${field}`] as const,
)
export const DEFAULT_SORT: OrderSort = '-placedAt'

export const OrderSortSchema = stringEnum<OrderSort>(ORDER_SORTS, {
  default: DEFAULT_SORT,
  description:
    'A leading - sorts in descending order. Statuses are sorted by progress, amounts within each currency, and equal values by ID',
})

const MAX_PAGE_SIZE = 100
export const DEFAULT_PAGE_SIZE = 25

/** The query parameters of a list. */
export const ListQuery = Type.Object(
  {
    ...OrderFilters.properties,
    sort: OrderSortSchema,
    page: Type.Integer({ minimum: 1, maximum: 1_000_000_000, default: 1 }),
    pageSize: Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE, default: DEFAULT_PAGE_SIZE }),
  },
  { additionalProperties: false },
)
export type ListQuery = Static<typeof ListQuery>

const validate = validators.converter<ListQuery>(ListQuery)

const isBlank = (value: unknown): boolean =>
  Array.isArray(value) ? value.length === 0 : typeof value === 'string' && value.trim() === ''

/** The filters of a list, without its sort order and page. */
export function getFilters(query: ListQuery): OrderFilters {
  const filters: Partial<ListQuery> = { ...query }
  delete filters.sort
  delete filters.page
  delete filters.pageSize
  return filters
}

/** Query parameters that were ignored. */
export interface IgnoredParameters {
  /** Names of invalid parameters */
  invalid: string[]
  isSearchTooLong: boolean
  /** The last day was ignored, because it is before the first day */
  isRangeReversed: boolean
}

/** Parses the query parameters of a page leniently: ignores blank and invalid ones. */
export function parseListQuery(parameters: Record<string, unknown>): {
  query: ListQuery
  ignored: IgnoredParameters
} {
  const values = Object.fromEntries(
    Object.entries(parameters)
      .filter(([name]) => Object.hasOwn(ListQuery.properties, name))
      .map(([name, value]) => [name, Array.isArray(value) ? value.filter(Boolean) : value] as const)
      .filter(([, value]) => !isBlank(value)),
  )
  const invalid = new Set<string>()
  const isSearchTooLong =
    typeof values.q === 'string' && Array.from(values.q).length > MAX_SEARCH_LENGTH
  if (isSearchTooLong) delete values.q
  while (!validate(values)) {
    const name = validate.errors?.[0]?.instancePath.split('/')[1] ?? ''
    invalid.add(name)
    if (!Reflect.deleteProperty(values, name) || name === '') break
  }
  const query = values as ListQuery
  const isRangeReversed = findFilterErrors(query).length > 0
  if (isRangeReversed) delete query.to
  return { query, ignored: { invalid: [...invalid], isSearchTooLong, isRangeReversed } }
}

/** Builds the URL of a list, without default values. */
export function buildListUrl(query: ListQuery, path = '/admin/orders'): string {
  const parameters = new URLSearchParams()
  const entries: [string, string | number | string[] | undefined][] = Object.entries(query)
  for (const [name, value] of entries) {
    if (value === undefined) continue
    for (const item of [value].flat()) parameters.append(name, String(item))
  }
  if (query.sort === DEFAULT_SORT) parameters.delete('sort')
  if (query.page === 1) parameters.delete('page')
  if (query.pageSize === DEFAULT_PAGE_SIZE) parameters.delete('pageSize')
  const text = parameters.toString()
  return text === '' ? path : `${path}?${text}`
}

/** The sort order that the header of a column links to. */
export const getNextSort = (
  sort: OrderSort,
  column: OrderSort,
  startsDescending: boolean,
): OrderSort => {
  const descending = `-${column}` as OrderSort
  if (sort === column) return descending
  if (sort === descending) return column
  return startsDescending ? descending : column
}
