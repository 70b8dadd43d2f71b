import type { Permission } from '../accounts/permissions.js'
import type { OrderStatus } from './order-status.js'

/**
 * The permission needed to set an order's status. All statuses except pending and cancelled concern
 * payment or fulfilment.
 */
export const getStatusPermission = (status: OrderStatus): Permission =>
  status === 'pending' || status === 'cancelled' ? 'orders:write' : 'orders:settle'

/** The permission needed to undo the change that gave an order its current status. */
export const getUndoPermission = (status: OrderStatus): Permission =>
  status === 'cancelled' ? 'orders:write' : 'orders:settle'
