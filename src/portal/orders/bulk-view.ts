import { getStatusAfter, type BulkAction, type BulkUpdateResult } from './bulk-actions.js'
import { toInlineLabel } from '../labels.js'

const formatCount = (count: number): string => (count === 1 ? '1 order' : `${count} orders`)

function describeChanged(count: number, action: BulkAction): string {
  const status = getStatusAfter(action)
  return status === null
    ? `Change undone for ${formatCount(count)}.`
    : `${formatCount(count)} ${count === 1 ? 'is' : 'are'} now ${toInlineLabel(status)}.`
}

/**
 * The message after a bulk action: what was changed, each rejected order with its reason, and a form
 * that undoes the change.
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
    rejected: rejected.map(({ order, id, reason }) => ({
      orderNumber: order?.orderNumber ?? `Order ${id}`,
      reason,
    })),
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
