import type { Permission } from '../accounts/permissions.js'
import type { OrderStatus } from './order-status.js'

/** What a user needs to give an order a status: all but these record money or fulfilment. */
export const getStatusPermission = (status: OrderStatus): Permission =>
  status === 'pending' || status === 'cancelled' ? 'orders:write' : 'orders:settle'

/** What a user needs to undo the last change of an order's status. */
export const getUndoPermission = (status: OrderStatus): Permission =>
  status === 'cancelled' ? 'orders:write' : 'orders:settle'
