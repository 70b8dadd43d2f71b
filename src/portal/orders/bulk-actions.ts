import { Problem } from '../../http/problem.js'
import {
  StoreUnwritableError,
  type ChangeContext,
  type ChangeResult,
  type OrderStore,
} from '../../order-store/order-store.js'
import { toLiveStatus, type LiveStatus, type OrderStatus } from '../../orders/order-status.js'
import { STATUS_LABELS } from '../labels.js'
import type { Order } from '../../orders/order.js'

/** An order as the list showed it when it was chosen. */
export interface SelectedOrder {
  id: string
  version: number
}

export type BulkAction =
  { kind: 'cancel' } | { kind: 'undo' } | { kind: 'status'; status: LiveStatus }

/** What became of several orders. */
export interface BulkUpdateResult {
  done: Order[]
  /** Were so already */
  unchanged: Order[]
  refused: { order: Order | null; id: string; reason: string }[]
}

/** Orders chosen in a list, written `id:version`, each once; what is not written so is left out. */
export function parseSelection(given: unknown): SelectedOrder[] {
  return [...new Set([given].flat())].flatMap((text) => {
    const [, id, version] = /^(\d{1,16}):(\d{1,10})$/.exec(String(text)) ?? []
    return id === undefined ? [] : [{ id, version: Number(version) }]
  })
}

/** What is to be done with them: `cancel`, `undo`, or a status; `null` for anything else. */
export function parseBulkAction(given: unknown): BulkAction | null {
  if (given === 'cancel' || given === 'undo') return { kind: given }
  const status = toLiveStatus(given)
  return status === undefined ? null : { kind: 'status', status }
}

const either = (words: string[]): string =>
  new Intl.ListFormat('en', { type: 'disjunction' }).format(words)

/** The status that orders have once that was done; `null` where each has its own. */
export function getStatusAfter(action: BulkAction): OrderStatus | null {
  if (action.kind === 'undo') return null
  return action.kind === 'cancel' ? 'cancelled' : action.status
}

function refusal(outcome: ChangeResult): string | null {
  switch (outcome.outcome) {
    case 'not_found':
      return 'is no longer there'
    case 'version_conflict':
      return 'has changed in the meantime'
    case 'invalid_transition': {
      const { order, transitions } = outcome
      const now = STATUS_LABELS[order.status].toLowerCase()
      const open = transitions.map((status) => STATUS_LABELS[status].toLowerCase())
      if (order.status === 'cancelled') return `is cancelled, and can only become ${either(open)}`
      return open.length > 0
        ? `is ${now}, and can only become ${either(open)}, or be cancelled`
        : `is ${now}, and can only be cancelled`
    }
    default:
      return null
  }
}

/** A person waits for all of them, and browsers and proxies no longer than a minute. */
const LONGEST_MS = 40_000
const NOT_TRIED = 'was not tried any more'

/** Why the orders take no changes; throws any other error. */
function refusedBy(error: unknown): string {
  if (error instanceof StoreUnwritableError) return 'could not be changed at the moment'
  if (error instanceof Problem && error.statusCode >= 500) return `– ${error.message}`
  throw error
}

/**
 * Changes several orders, each by itself: one that is refused does not hold up the others. Where
 * the orders take no changes any more, or too slowly, it tells how far that was; throws where
 * nothing was changed for that.
 */
export async function updateOrders(
  store: OrderStore,
  chosen: SelectedOrder[],
  action: BulkAction,
  by: string,
  longestMs = LONGEST_MS,
): Promise<BulkUpdateResult> {
  const outcomes: BulkUpdateResult = { done: [], unchanged: [], refused: [] }
  const refuse = (id: string, reason: string): void => {
    outcomes.refused.push({ id, order: store.get(id), reason })
  }
  const change = (id: string, context: ChangeContext): Promise<ChangeResult> =>
    action.kind === 'status'
      ? store.apply(id, { type: 'edit', changes: { status: action.status } }, context)
      : store.apply(id, { type: action.kind }, context)

  const givesUp = performance.now() + longestMs
  let isOver = false
  for (const [index, { id, version }] of chosen.entries()) {
    if (isOver || performance.now() > givesUp) {
      refuse(id, NOT_TRIED)
      continue
    }
    try {
      const outcome = await change(id, { by, ifVersions: [version] })
      if (outcome.outcome === 'changed') outcomes.done.push(outcome.order)
      else if (outcome.outcome === 'unchanged') outcomes.unchanged.push(outcome.order)
      else if (
        outcome.outcome === 'version_conflict' &&
        outcome.order.status === getStatusAfter(action)
      ) {
        // It has become so since, such as by the same form.
        outcomes.unchanged.push(outcome.order)
      } else refuse(id, refusal(outcome) ?? '')
    } catch (error) {
      if (index === 0) throw error
      refuse(id, refusedBy(error))
      isOver = true
    }
  }
  return outcomes
}
