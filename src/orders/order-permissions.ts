import type { FastifyRequest } from 'fastify'
import type { Permission } from '../accounts/permissions.js'
import type { OrderStatus } from './order-status.js'
import type { Order } from './order.js'

/**
 * The permission needed to set an order's status. All statuses except pending and cancelled concern
 * payment or fulfilment.
 */
export const getStatusPermission = (status: OrderStatus): Permission =>
  status === 'pending' || status === 'cancelled' ? 'orders:write' : 'orders:settle'

/**
 * Throws a Problem (403) unless the caller may set an order's status. With AUTO_FULFIL, a paid order
 * can be placed with the provider at once, so that needs a recent sign-in.
 */
export function requireStatusPermission(request: FastifyRequest, status: OrderStatus): void {
  request.requirePermission(getStatusPermission(status))
  if (status === 'paid' && request.server.config.AUTO_FULFIL) request.requireRecentSignIn()
}

/** The permission needed to undo the change that gave an order its current status. */
export const getUndoPermission = (status: OrderStatus): Permission =>
  status === 'cancelled' ? 'orders:write' : 'orders:settle'

/** What a guest has accepted, and whether the credits have been bought. */
const SETTLED_FIELDS: readonly string[] = ['co2eKg', 'amountMinor', 'currency', 'orderSourceId']

/** What a recalculation changes. */
export const RECALCULATED_FIELDS = ['calculation', 'co2eKg']

/** Whether a guest ordered. An imported order may not say so, but has the checkout of one. */
export const isGuestOrder = ({ origin, checkout }: Pick<Order, 'origin' | 'checkout'>): boolean =>
  origin === 'guest' || checkout !== null

/** The permission needed to edit fields of an order, except its status. */
export const getEditPermission = (
  order: Pick<Order, 'origin' | 'checkout'>,
  fields: readonly string[],
): Permission =>
  fields.includes('retirement') ||
  (isGuestOrder(order) && fields.some((field) => SETTLED_FIELDS.includes(field)))
    ? 'orders:settle'
    : 'orders:write'
