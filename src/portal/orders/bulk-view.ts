import { getStatusAfter, type BulkAction, type BulkUpdateResult } from './bulk-actions.js'
import { joinWithAnd, toInlineLabel } from '../labels.js'

/** Orders of a group of failures that are named. */
const MAX_NAMED_ORDERS = 10

const formatCount = (count: number): string => (count === 1 ? '1 order' : `${count} orders`)

function describeChanged(count: number, action: BulkAction): string {
  const status = getStatusAfter(action)
  return status === null
    ? `Change undone for ${formatCount(count)}.`
    : `${formatCount(count)} ${count === 1 ? 'is' : 'are'} now ${toInlineLabel(status)}.`
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
export function buildBulkSummary(result: BulkUpdateResult, action: BulkAction, listQuery: string) {
  const { changed, unchanged, rejected } = result
  const sentences = [
    ...(changed.length > 0 ? [describeChanged(changed.length, action)] : []),
    ...(unchanged.length > 0 ? [`${formatCount(unchanged.length)} already had this status.`] : []),
    ...(rejected.length > 0
      ? [`${formatCount(rejected.length)} ${rejected.length === 1 ? 'was' : 'were'} not changed:`]
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
