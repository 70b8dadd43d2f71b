import type { FastifyInstance } from 'fastify'
import type { Order } from '../orders/order.js'

/**
 * Starts the payment of an order. Returns the URL where the guest pays: Stripe's page, or the order
 * page, which shows how to pay or why payment is not possible now.
 *
 * @param path of the order page
 */
export async function startPayment(
  { payments, publicBaseUrl }: FastifyInstance,
  order: Order,
  path: string,
): Promise<string> {
  const { service } = payments
  if (order.checkout?.paymentMethod !== 'stripe' || service === null) return path
  const started = await service.start(order, `${publicBaseUrl()}${path}`)
  if (started.outcome === 'redirect') return started.url
  return started.outcome === 'unavailable' ? `${path}?payment=unavailable` : path
}
