import type { OrderStore } from '../../order-store/order-store.js'
import { buildListUrl, parseListQuery, type ListQuery } from '../../orders/list-query.js'
import type { Order } from '../../orders/order.js'

/** The list that an order was opened from, and where in it. */
export interface ListContext {
  query: ListQuery
  /** How many orders stand before it; `null` where it was not opened from a list */
  at: number | null
}

/** Where in a list an order's address says that it was opened from. */
export function parseListContext(given: Record<string, unknown>): ListContext {
  const { query } = parseListQuery(given)
  const at = typeof given.at === 'string' && /^\d{1,9}$/.test(given.at) ? Number(given.at) : null
  return { query, at }
}

/** An address that keeps the place in mind. */
export function buildContextUrl(
  { query, at }: ListContext,
  path: string,
  extra: Record<string, string> = {},
): string {
  const parameters = new URLSearchParams(extra)
  if (at !== null) parameters.set('at', String(at))
  // Where in the list is known to the order; which page that is follows from it.
  const list = buildListUrl({ ...query, page: at === null ? query.page : 1 }, '').replace('?', '')
  const text = [parameters.toString(), list].filter(Boolean).join('&')
  return text === '' ? path : `${path}?${text}`
}

/** The list as it was, at the page that has the order. */
export function getContextListUrl({ query, at }: ListContext, id: string): string {
  if (at === null) return buildListUrl(query)
  return `${buildListUrl({ ...query, page: Math.floor(at / query.pageSize) + 1 })}#row-${id}`
}

/** An order among those before and after it. */
export interface Neighbours {
  at: number
  total: number
  previous: Order | null
  next: Order | null
}

/** Which orders stand before and after one in its list; `null` where it is not near its place. */
export async function findNeighbours(
  store: OrderStore,
  id: string,
  { query, at }: ListContext,
): Promise<Neighbours | null> {
  if (at === null) return null
  const { sort, pageSize, ...filters }: Omit<ListQuery, 'page'> & { page?: number } = query
  delete filters.page
  const around = async (place: number, reach: number) => {
    const offset = Math.max(0, place - reach)
    const limit = place - offset + reach + 1
    const { items, total } = await store.list(filters, { sort, offset, limit })
    const index = items.findIndex((order) => order.id === id)
    return { items, total, index, place: offset + index }
  }
  let seen = await around(at, 1)
  // Orders before it may have come or gone: it is looked for a page to both sides.
  if (seen.index === -1) seen = await around(at, pageSize)
  if (seen.index !== -1 && seen.place !== at) seen = await around(seen.place, 1)
  const { items, total, index, place } = seen
  if (index === -1) return null
  return { at: place, total, previous: items[index - 1] ?? null, next: items[index + 1] ?? null }
}
