import { buildListUrl, getFilters, parseListQuery, type ListQuery } from '../order-filters.js'
import type { OrderStore } from '../store/order-store.js'

/** The list that an order was opened from, and its position there. */
export interface ListContext {
  query: ListQuery
  /** Starts at 0 on the first page; `null` if the order was not opened from a list */
  position: number | null
}

/** Reads the list context from the query of an order's URL. */
export function parseListContext(query: Record<string, unknown>): ListContext {
  const position =
    typeof query.at === 'string' && /^\d{1,9}$/.test(query.at) ? Number(query.at) : null
  return { query: parseListQuery(query).query, position }
}

/** Builds a URL that keeps the list context. */
export function buildContextUrl(
  { query, position }: ListContext,
  path: string,
  extra: Record<string, string> = {},
): string {
  const parameters = new URLSearchParams(extra)
  if (position !== null) parameters.set('at', String(position))
  // The page can be calculated from the position.
  const page = position === null ? query.page : 1
  const list = buildListUrl({ ...query, page }, '').replace('?', '')
  const search = [parameters.toString(), list].filter(Boolean).join('&')
  return search === '' ? path : `${path}?${search}`
}

/** The URL of the list at the page and row of an order. */
export function getContextListUrl({ query, position }: ListContext, id: string): string {
  if (position === null) return buildListUrl(query)
  const page = Math.floor(position / query.pageSize) + 1
  return `${buildListUrl({ ...query, page })}#row-${id}`
}

/**
 * Finds the position of an order in its list, and its neighbours there; `null` if the order has moved
 * too far.
 */
export async function findNeighbours(
  store: OrderStore,
  id: string,
  { query, position }: ListContext,
) {
  if (position === null) return null
  const { sort, pageSize } = query
  const filters = getFilters(query)
  const listAround = async (center: number, radius: number) => {
    const offset = Math.max(0, center - radius)
    const limit = center - offset + radius + 1
    const { items, ...total } = await store.list(filters, { sort, offset, limit })
    const index = items.findIndex((order) => order.id === id)
    return { items, total, index, position: offset + index }
  }
  let found = await listAround(position, 1)
  // Orders before it may have been added or removed.
  if (found.index === -1) found = await listAround(position, pageSize)
  if (found.index === -1) return null
  if (found.position !== position) found = await listAround(found.position, 1)
  const { items, total, index } = found
  if (index === -1) return null
  return {
    position: found.position,
    ...total,
    previous: items[index - 1] ?? null,
    next: items[index + 1] ?? null,
  }
}
