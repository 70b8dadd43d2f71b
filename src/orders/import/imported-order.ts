import type { StagedOrder } from '../../order-store/sqlite/staged-orders.js'
import { createFirstVersion } from '../apply-changes.js'
import type { ImportedOrder } from '../order.js'

const earlier = (a: string, b: string): string => (Date.parse(a) < Date.parse(b) ? a : b)
const later = (a: string, b: string): string => (Date.parse(a) < Date.parse(b) ? b : a)

/** Adds defaults for the fields that the file leaves out. */
export function toImportedOrder(imported: ImportedOrder, now: string): StagedOrder {
  const { status = 'pending', version = 1 } = imported
  // A default must not put updatedAt before createdAt.
  const createdAt = imported.createdAt ?? earlier(now, imported.updatedAt ?? now)
  const updatedAt = imported.updatedAt ?? later(now, createdAt)
  return {
    ...createFirstVersion(imported, now),
    id: imported.id ?? null,
    orderNumber: imported.orderNumber ?? null,
    status,
    createdAt,
    updatedAt,
    fulfilledAt: imported.fulfilledAt ?? (status === 'fulfilled' ? updatedAt : null),
    cancelledAt: imported.cancelledAt ?? (status === 'cancelled' ? updatedAt : null),
    version,
    // The factor edition of an imported order is unknown unless the file contains it.
    calculation: imported.calculation ?? null,
  }
}
