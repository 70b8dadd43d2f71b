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

export const MAX_PAGE_SIZE = 100
export const DEFAULT_PAGE_SIZE = 25

/** What the address of a list says. */
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

/** What was left out of an address. */
export interface IgnoredParameter {
  /** Names of the parts that cannot be read */
  unreadable: string[]
  /** Whether the search was left out for being longer than searches are */
  tooLong: boolean
  /** Whether the last day was left out for being before the first */
  endsBeforeStart: boolean
}

/** A page's address read with indulgence: what is blank or wrong is left out, and named. */
export function parseListQuery(given: Record<string, unknown>): {
  query: ListQuery
  leftOut: IgnoredParameter
} {
  const wanted = Object.fromEntries(
    Object.entries(given)
      .filter(([name]) => Object.hasOwn(ListQuery.properties, name))
      .map(([name, value]) => [name, Array.isArray(value) ? value.filter(Boolean) : value] as const)
      .filter(([, value]) => !isBlank(value)),
  )
  const unreadable = new Set<string>()
  const tooLong = typeof wanted.q === 'string' && Array.from(wanted.q).length > MAX_SEARCH_LENGTH
  if (tooLong) delete wanted.q
  while (!validate(wanted)) {
    const name = validate.errors?.[0]?.instancePath.split('/')[1] ?? ''
    unreadable.add(name)
    if (!Reflect.deleteProperty(wanted, name) || name === '') break
  }
  const query = wanted as ListQuery
  const endsBeforeStart = findFilterErrors(query).length > 0
  if (endsBeforeStart) delete query.to
  return { query, leftOut: { unreadable: [...unreadable], tooLong, endsBeforeStart } }
}

/** The address of a list, without what is so by default. */
export function buildListUrl(query: ListQuery, path = '/admin/orders'): string {
  const parameters = new URLSearchParams()
  const given: [string, string | number | string[] | undefined][] = Object.entries(query)
  for (const [name, value] of given) {
    if (value === undefined) continue
    for (const one of [value].flat()) parameters.append(name, String(one))
  }
  if (query.sort === DEFAULT_SORT) parameters.delete('sort')
  if (query.page === 1) parameters.delete('page')
  if (query.pageSize === DEFAULT_PAGE_SIZE) parameters.delete('pageSize')
  const text = parameters.toString()
  return text === '' ? path : `${path}?${text}`
}

/** The sort that a click on a column's head leads to. */
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
