import { isDeepStrictEqual } from 'node:util'
import { isPlaced, type FulfilmentAttempt } from '../orders/attempt.js'
import { isPaid } from '../orders/order-status.js'
import type { Order } from '../orders/order.js'
import type { Certificate } from './certificate.js'

/**
 * Whether an order is paid, and there is evidence that its carbon credits were retired: the
 * retirement entered by staff, or the fulfilled order at the provider. An ID that was typed in is no
 * evidence.
 *
 * @param attempt the latest attempt to place the order
 */
export const hasEvidence = (order: Order, attempt: FulfilmentAttempt | null): boolean =>
  isPaid(order.status) &&
  (order.retirement !== null || (order.status === 'fulfilled' && isPlaced(order, attempt)))

/** Whether a certificate states the retirement that its order has. */
export const isSameRetirement = (
  { content }: Pick<Certificate, 'content'>,
  order: Order,
): boolean => isDeepStrictEqual(content.retirement ?? null, order.retirement)

/**
 * Whether an issued certificate is still valid: the order still has the evidence that it states.
 * Certificates of earlier versions may state none.
 *
 * @param attempt the latest attempt to place the order
 */
export function isValid(
  { content }: Certificate,
  order: Order,
  attempt: FulfilmentAttempt | null,
): boolean {
  const { provider, retirement } = content
  const hasProviderOrder =
    provider === null || (provider.orderId === order.orderSourceId && attempt?.state !== 'released')
  if (!isPaid(order.status) || !hasProviderOrder) return false
  return retirement
    ? isSameRetirement({ content }, order) && (provider !== null || content.co2eKg === order.co2eKg)
    : order.status === 'fulfilled' && attempt?.state !== 'released'
}
