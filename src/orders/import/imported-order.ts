import type { StagedOrder } from '../book/staged-orders.js'
import type { ImportedOrder } from '../order.js'
import { firstVersion } from '../order-changes.js'

/** An order as its file has it, with what that leaves out. Pure. */
export function importedOrder(given: ImportedOrder, now: string): StagedOrder {
  const { status = 'pending', createdAt = now, updatedAt = now, version = 1 } = given
  return {
    ...firstVersion(given, now),
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
