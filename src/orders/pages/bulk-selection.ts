import { parse } from 'node:querystring'
import type { OrderStore } from '../store/order-store.js'
import { getFilters, parseListQuery } from '../list-query.js'
import type { Order } from '../order.js'
import { parseSelection, type SelectedOrder } from './bulk-actions.js'

type Fields = Record<string, unknown>

/** Maximum number of “all matching” orders, so that an action takes only a few seconds. */
export const MAX_MATCHING_ORDERS = 1000

/** A submitted bulk form. */
export interface BulkForm {
  selection: SelectedOrder[]
  /** Whether the action is for all orders that match the filters, instead of the selected ones */
  isForAllMatching: boolean
  /** The query string of the list that the orders were selected in */
  listQuery: string
  /** The parsed query string */
  query: Fields
}

export function parseBulkForm({ order, all, list }: Fields): BulkForm {
  const listQuery = typeof list === 'string' ? list : ''
  // Without a limit: more orders would match if a filter were left out.
  const query = parse(listQuery, '&', '=', { maxKeys: 0 })
  return { selection: parseSelection(order), isForAllMatching: all !== undefined, listQuery, query }
}

/**
 * Loads the orders that a bulk action is for, sorted as in the list. An action for all matching
 * orders is limited to the first `MAX_MATCHING_ORDERS`. Returns no orders if a filter is invalid,
 * because more orders would match without that filter.
 */
export async function loadBulkOrders(
  store: OrderStore,
  { selection, isForAllMatching, query }: BulkForm,
): Promise<Order[]> {
  if (!isForAllMatching) {
    const found = await Promise.all(selection.map(({ id }) => store.get(id)))
    return found.filter((order) => order !== null)
  }
  const { query: valid, ignored } = parseListQuery(query)
  if (ignored.invalid.length > 0 || ignored.isSearchTooLong || ignored.isRangeReversed) return []
  const slice = { sort: valid.sort, offset: 0, limit: MAX_MATCHING_ORDERS }
  return (await store.list(getFilters(valid), slice)).items
}
