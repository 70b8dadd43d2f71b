import { parse } from 'node:querystring'
import { setImmediate as yieldToOtherRequests } from 'node:timers/promises'
import { Problem } from '../../core/http/problem.js'
import { joinWithOr, toInlineLabel } from '../labels.js'
import { getFilters, parseListQuery } from '../order-filters.js'
import { toLiveStatus, type LiveStatus, type OrderStatus } from '../order-status.js'
import type { Order } from '../order.js'
import {
  StoreUnwritableError,
  type ChangeContext,
  type ChangeResult,
  type OrderStore,
} from '../store/order-store.js'

/** An order as the list showed it when it was selected. */
export interface SelectedOrder {
  id: string
  version: number
}

export type BulkAction =
  { type: 'cancel' } | { type: 'undo' } | { type: 'status'; status: LiveStatus }

export interface BulkUpdateResult {
  changed: Order[]
  /** Already had the status */
  unchanged: Order[]
  rejected: { order: Order | null; id: string; reason: string }[]
}

/** Parses selected orders, each `id:version`; drops duplicates and invalid values. */
function parseSelection(values: unknown): SelectedOrder[] {
  return [...new Set([values].flat())].flatMap((text) => {
    const [, id, version] =
      typeof text === 'string' ? (/^(\d{1,16}):(\d{1,10})$/.exec(text) ?? []) : []
    return id === undefined ? [] : [{ id, version: Number(version) }]
  })
}

/** Parses `cancel`, `undo` or a status; `null` for anything else. */
export function parseBulkAction(value: unknown): BulkAction | null {
  if (value === 'cancel' || value === 'undo') return { type: value }
  const status = toLiveStatus(value)
  return status === undefined ? null : { type: 'status', status }
}

/** The status of the orders after an action; `null` if it differs between orders. */
export function getStatusAfter(action: BulkAction): OrderStatus | null {
  if (action.type === 'undo') return null
  return action.type === 'cancel' ? 'cancelled' : action.status
}

/** The reason that follows the order numbers, as in “CW-000001 and CW-000002: not found”. */
function describeRejection(result: ChangeResult): string {
  switch (result.outcome) {
    case 'not_found':
      return 'not found'
    case 'version_conflict':
      return 'changed by someone else'
    case 'invalid_transition': {
      const { order, transitions } = result
      const status = toInlineLabel(order.status)
      const targets = transitions.map(toInlineLabel)
      if (order.status === 'cancelled') return `cancelled; can only become ${joinWithOr(targets)}`
      return targets.length > 0
        ? `${status}; can only become ${joinWithOr(targets)}, or be cancelled`
        : `${status}; can only be cancelled`
    }
    default:
      return 'not changed'
  }
}

/** Proxies and browsers usually time out after a minute. */
const MAX_DURATION_MS = 40_000
const NOT_ATTEMPTED = 'not attempted'

/** Describes why the store rejects all changes; rethrows any other error. */
function describeStoreError(error: unknown): string {
  if (error instanceof StoreUnwritableError) return 'orders cannot be changed at the moment'
  if (error instanceof Problem && error.statusCode >= 500) return error.message
  throw error
}

/**
 * Changes orders one by one; a rejected change does not affect the other orders. Stops at the time
 * limit, or when the store fails. Throws if the store fails at the first order.
 */
export async function updateOrders(
  store: OrderStore,
  selection: SelectedOrder[],
  action: BulkAction,
  by: string,
  /** Why an order cannot be changed, as a clause; `null` if it can */
  findProblem: (order: Order) => Promise<string | null>,
  maxDurationMs = MAX_DURATION_MS,
): Promise<BulkUpdateResult> {
  const results: BulkUpdateResult = { changed: [], unchanged: [], rejected: [] }
  const reject = async (id: string, reason: string): Promise<void> => {
    results.rejected.push({ id, order: await store.get(id), reason })
  }
  const apply = (id: string, context: ChangeContext): Promise<ChangeResult> =>
    action.type === 'status'
      ? store.apply(id, { type: 'edit', changes: { status: action.status } }, context)
      : store.apply(id, { type: action.type }, context)

  const deadline = performance.now() + maxDurationMs
  let isStopped = false
  for (const [index, { id, version }] of selection.entries()) {
    if (isStopped || performance.now() > deadline) {
      await reject(id, NOT_ATTEMPTED)
      continue
    }
    try {
      const current = await store.get(id)
      const problem = current && (await findProblem(current))
      if (problem !== null) {
        await reject(id, problem)
        continue
      }
      const result = await apply(id, { by, ifVersions: [version] })
      if (result.outcome === 'changed') results.changed.push(result.order)
      else if (result.outcome === 'unchanged') results.unchanged.push(result.order)
      else if (
        // Already changed, for example because the form was sent twice
        result.outcome === 'version_conflict' &&
        result.order.status === getStatusAfter(action)
      ) {
        results.unchanged.push(result.order)
      } else await reject(id, describeRejection(result))
    } catch (error) {
      if (index === 0) throw error
      await reject(id, describeStoreError(error))
      isStopped = true
    }
    // Changes in SQLite block the event loop.
    await yieldToOtherRequests()
  }
  return results
}

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
