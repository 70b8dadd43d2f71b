import { Type, type Static } from '@sinclair/typebox'
import {
  DEFAULT_SORT,
  findFilterErrors,
  MAX_SEARCH_LENGTH,
  OrderFilters,
  OrderSortSchema,
  type OrderSort,
} from './order-filters.js'
import { validators } from './validators.js'

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
