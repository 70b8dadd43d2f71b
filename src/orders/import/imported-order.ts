import type { StagedOrder } from '../../order-store/sqlite/staged-orders.js'
import type { ImportedOrder } from '../order.js'
import { createFirstVersion } from '../apply-changes.js'

const earlier = (a: string, b: string): string => (Date.parse(a) < Date.parse(b) ? a : b)
const later = (a: string, b: string): string => (Date.parse(a) < Date.parse(b) ? b : a)

/** An order as its file has it, with what that leaves out. Pure. */
export function toImportedOrder(given: ImportedOrder, now: string): StagedOrder {
  const { status = 'pending', version = 1 } = given
  // Of two moments of which one is given, the other is on its right side.
  const createdAt = given.createdAt ?? earlier(now, given.updatedAt ?? now)
  const updatedAt = given.updatedAt ?? later(now, createdAt)
  return {
    ...createFirstVersion(given, now),
    id: given.id ?? null,
    orderNumber: given.orderNumber ?? null,
    status,
    createdAt,
    updatedAt,
    fulfilledAt: given.fulfilledAt ?? (status === 'fulfilled' ? updatedAt : null),
    cancelledAt: given.cancelledAt ?? (status === 'cancelled' ? updatedAt : null),
    version,
  }
}
