import type { Formatters } from '../../core/formatting/formatters.js'
import { joinWithAnd, STATUS_LABELS, toInlineLabel } from '../labels.js'
import { ORDER_STATUSES, type LiveStatus } from '../order-status.js'
import type { Order } from '../order.js'
import { getStatusAfter, type BulkAction, type BulkUpdateResult } from './bulk-actions.js'

/** Maximum number of orders named per reason. */
const MAX_NAMED_ORDERS = 10

const formatCount = (count: number, format: Formatters): string =>
  count === 1 ? '1 order' : `${format.count(count)} orders`

function describeChanged(count: number, action: BulkAction, format: Formatters): string {
  const status = getStatusAfter(action)
  const counted = formatCount(count, format)
  return status === null
    ? `Change undone for ${counted}.`
    : `${counted} ${count === 1 ? 'is' : 'are'} now ${toInlineLabel(status)}.`
}

/** Groups rejected orders by reason; each group names a few orders and counts the others. */
function groupByReason(rejected: BulkUpdateResult['rejected']) {
  const groups = new Map<string, string[]>()
  for (const { order, id, reason } of rejected) {
    const orderNumbers = groups.get(reason) ?? []
    groups.set(reason, [...orderNumbers, order?.orderNumber ?? `Order ${id}`])
  }
  return [...groups].map(([reason, orderNumbers]) => {
    const others = orderNumbers.length - MAX_NAMED_ORDERS
    const names = orderNumbers.slice(0, MAX_NAMED_ORDERS)
    return {
      reason,
      orderNumbers: others > 0 ? `${names.join(', ')} and ${others} more` : joinWithAnd(names),
    }
  })
}

/**
 * The message after a bulk action: what was changed, the rejected orders by reason, and a form that
 * undoes the change.
 *
 * @param listQuery the query string of the list that the orders were selected in
 */
export function buildBulkSummary(
  result: BulkUpdateResult,
  action: BulkAction,
  listQuery: string,
  format: Formatters,
) {
  const { changed, unchanged, rejected } = result
  const sentences = [
    ...(changed.length > 0 ? [describeChanged(changed.length, action, format)] : []),
    ...(unchanged.length > 0
      ? [`${formatCount(unchanged.length, format)} already had this status.`]
      : []),
    ...(rejected.length > 0
      ? [
          `${formatCount(rejected.length, format)} ${rejected.length === 1 ? 'was' : 'were'} not changed:`,
        ]
      : []),
  ]
  return {
    text: sentences.join(' '),
    rejected: groupByReason(rejected),
    undo:
      changed.length === 0 || action.type === 'undo'
        ? null
        : {
            action: '/admin/orders/bulk',
            target: '#orders',
            swap: 'innerMorph',
            sync: '#orders:drop',
            fields: [
              ...changed.map(({ id, version }) => ({ name: 'order', value: `${id}:${version}` })),
              { name: 'list', value: listQuery },
              { name: 'action', value: 'undo' },
            ],
          },
  }
}

export type ConfirmedAction = 'cancel' | LiveStatus

/** Maximum number of orders listed in a confirmation. */
const MAX_LISTED_ORDERS = 100

const describeEffect = (action: ConfirmedAction): string =>
  action === 'cancel'
    ? 'Their records are kept. You can undo this.'
    : action === 'refunded'
      ? 'This records the refunds; it does not send money. You can undo this.'
      : 'You can undo this.'

/** Counts the orders by their current status: `3 pending and 1 paid`. */
const describeStatuses = (orders: readonly Order[], format: Formatters): string =>
  joinWithAnd(
    ORDER_STATUSES.flatMap((status) => {
      const { length } = orders.filter((order) => order.status === status)
      return length === 0 ? [] : [`${format.count(length)} ${toInlineLabel(status)}`]
    }),
  )

/** @param consequences see `describeConsequences` */
export function buildBulkConfirmation(
  orders: readonly Order[],
  action: ConfirmedAction,
  consequences: string | null,
  format: Formatters,
) {
  const isSingle = orders.length === 1
  const counted = formatCount(orders.length, format)
  const status = action === 'cancel' ? null : toInlineLabel(action)
  return {
    action,
    title: status === null ? `Cancel ${counted}?` : `Mark ${counted} as ${status}?`,
    effect: describeEffect(action),
    consequences,
    submitLabel: status === null ? `Cancel ${isSingle ? 'order' : counted}` : `Mark as ${status}`,
    isDestructive: status === null || action === 'refunded',
    keepLabel: status === null ? `Keep ${isSingle ? 'order' : 'orders'}` : 'Keep status',
    statuses: isSingle ? null : describeStatuses(orders, format),
    orders: orders.slice(0, MAX_LISTED_ORDERS).map((order) => ({
      ...order,
      amount: format.money(order.amountMinor, order.currency),
      statusLabel: STATUS_LABELS[order.status],
    })),
    unlisted:
      orders.length > MAX_LISTED_ORDERS ? format.count(orders.length - MAX_LISTED_ORDERS) : null,
  }
}
