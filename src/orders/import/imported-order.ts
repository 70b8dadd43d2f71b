import type { StagedOrder } from '../store/sqlite/staged-orders.js'
import { createFirstVersion } from '../apply-changes.js'
import { inferPaidAt } from '../order-status.js'
import type { ImportedOrder } from '../order.js'

const earlier = (a: string, b: string): string => (Date.parse(a) < Date.parse(b) ? a : b)
const later = (a: string, b: string): string => (Date.parse(a) < Date.parse(b) ? b : a)

/** Adds defaults for the fields that the file leaves out. */
export function toImportedOrder(imported: ImportedOrder, now: string): StagedOrder {
  const { status = 'pending', version = 1 } = imported
  // A default must not put updatedAt before createdAt.
  const createdAt = imported.createdAt ?? earlier(now, imported.updatedAt ?? now)
  const updatedAt = imported.updatedAt ?? later(now, createdAt)
  const fulfilledAt = imported.fulfilledAt ?? (status === 'fulfilled' ? updatedAt : null)
  const cancelledFrom = imported.cancelledFrom ?? null
  return {
    ...createFirstVersion(imported, now),
    id: imported.id ?? null,
    orderNumber: imported.orderNumber ?? null,
    status,
    createdAt,
    updatedAt,
    fulfilledAt,
    cancelledAt: imported.cancelledAt ?? (status === 'cancelled' ? updatedAt : null),
    cancelledFrom,
    paidAt: imported.paidAt ?? inferPaidAt({ status, cancelledFrom, fulfilledAt, createdAt }),
    retirement: imported.retirement ?? null,
    version,
    // The factor edition of an imported order is unknown unless the file contains it.
    calculation: imported.calculation ?? null,
  }
}
