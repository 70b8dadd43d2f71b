import type { BulkOutcome } from './bulk-changes.js'

const several = (count: number): string => (count === 1 ? '1 order' : `${count} orders`)
const are = (count: number): string => (count === 1 ? 'is' : 'are')

/** What became of several orders, in words; the refused ones each with its reason. */
export function bulkSummary({ done, unchanged, refused }: BulkOutcome, becomes: string) {
  const parts = [
    done.length > 0 ? `${several(done.length)} ${are(done.length)} ${becomes} now.` : '',
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
  }
}
