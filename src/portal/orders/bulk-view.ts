import { getStatusAfter, type BulkAction, type BulkUpdateResult } from './bulk-actions.js'
import { STATUS_LABELS } from '../labels.js'

const several = (count: number): string => (count === 1 ? '1 order' : `${count} orders`)
const are = (count: number): string => (count === 1 ? 'is' : 'are')

/** What orders are once that was done. */
function doneWith(action: BulkAction): string {
  const status = getStatusAfter(action)
  return status === null ? 'as before again' : `${STATUS_LABELS[status].toLowerCase()} now`
}

/**
 * What became of several orders, in words; the refused ones each with its reason, and the way back
 * for those that were changed.
 *
 * @param list the list they were chosen from, as the query of its address
 */
export function buildBulkSummary(outcome: BulkUpdateResult, action: BulkAction, list: string) {
  const { done, unchanged, refused } = outcome
  const parts = [
    done.length > 0 ? `${several(done.length)} ${are(done.length)} ${doneWith(action)}.` : '',
    unchanged.length > 0
      ? `${several(unchanged.length)} ${unchanged.length === 1 ? 'was' : 'were'} so already.`
      : '',
    refused.length > 0
      ? `${several(refused.length)} ${refused.length === 1 ? 'was' : 'were'} left as ${refused.length === 1 ? 'it is' : 'they are'}:`
      : '',
  ]
  return {
    text: parts.filter((part) => part !== '').join(' '),
    refused: refused.map(({ order, id, reason }) => ({
      orderNumber: order?.orderNumber ?? `Order ${id}`,
      reason,
    })),
    undo:
      done.length === 0 || action.kind === 'undo'
        ? null
        : {
            action: '/admin/orders/several',
            target: '#orders',
            swap: 'innerMorph',
            sync: '#orders:drop',
            fields: [
              ...done.map(({ id, version }) => ({ name: 'order', value: `${id}:${version}` })),
              { name: 'list', value: list },
              { name: 'action', value: 'undo' },
            ],
          },
  }
}
