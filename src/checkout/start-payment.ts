import type { Order } from '../orders/order.js'
import type { Payments } from '../payments/stripe-payments.js'

/**
 * Returns the URL where a guest pays for an order: Stripe's page, or the order page, which shows
 * how to pay or why payment is not possible now.
 *
 * @param path of the order page
 */
export type StartPayment = (order: Order, path: string) => Promise<string>

/** Creates the function that starts a payment. */
export const createPaymentStarter =
  (payments: Payments | null, getBaseUrl: () => string): StartPayment =>
  async (order, path) => {
    if (order.checkout?.paymentMethod !== 'stripe' || payments === null) return path
    const started = await payments.start(order, `${getBaseUrl()}${path}`)
    if (started.outcome === 'redirect') return started.url
    return started.outcome === 'unavailable' ? `${path}?payment=unavailable` : path
  }
