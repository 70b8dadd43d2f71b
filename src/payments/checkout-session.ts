import { isErased } from '../orders/erase-order.js'
import type { Order } from '../orders/order.js'
import type { Payment } from './payment.js'
import { toStripeAmount } from './stripe-amount.js'
import { PAYMENT_METADATA, type SessionParams } from './stripe-gateway.js'

/** Stripe refuses sessions with addresses that it does not support, such as `å@example.com`. */
const SUPPORTED_EMAIL = /^[\w.+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,}$/i

interface Line {
  name: string
  amountMinor: number
}

/**
 * Returns the lines of the receipt: the carbon credits and the service fee. If they do not add up to
 * the amount, returns a single line. The lines name no mass, because it can change while the guest
 * pays.
 */
function getLines({ checkout, orderNumber }: Order, { amountMinor }: Payment): Line[] {
  if (checkout !== null) {
    const { offsetMinor, serviceFeeMinor } = checkout
    const offset = { name: `Carbon credits, order ${orderNumber}`, amountMinor: offsetMinor }
    if (offsetMinor === amountMinor) return [offset]
    if (offsetMinor + serviceFeeMinor === amountMinor) {
      return [offset, { name: 'Service fee', amountMinor: serviceFeeMinor }]
    }
  }
  return [{ name: `Order ${orderNumber}`, amountMinor }]
}

/**
 * Builds the Checkout session of a payment; `null` if Stripe cannot charge its amount exactly. The
 * email address is the only text in the session that the guest typed.
 *
 * @param orderUrl the guest's order page
 */
export function buildSessionParams(
  order: Order,
  payment: Payment,
  orderUrl: string,
): SessionParams | null {
  const { currency } = payment
  const total = toStripeAmount(payment.amountMinor, currency)
  if (total === null) return null
  const lines = getLines(order, payment).map(({ name, amountMinor }) => ({
    name,
    amount: toStripeAmount(amountMinor, currency),
  }))
  // The parts may be more precise than the amounts that Stripe charges.
  const isExact = lines.every(({ amount }) => amount !== null && amount > 0)
  const charged = isExact ? lines : [{ name: `Order ${order.orderNumber}`, amount: total }]
  const metadata = { [PAYMENT_METADATA]: payment.id }
  return {
    mode: 'payment',
    submit_type: 'pay',
    client_reference_id: order.orderNumber,
    ...(SUPPORTED_EMAIL.test(order.customerEmail) &&
      !isErased(order) && { customer_email: order.customerEmail }),
    line_items: charged.map(({ name, amount }) => ({
      quantity: 1,
      price_data: {
        currency: currency.toLowerCase(),
        unit_amount: amount ?? 0,
        product_data: { name },
      },
    })),
    // The guest pays the quoted amount in the quoted currency.
    adaptive_pricing: { enabled: false },
    metadata,
    payment_intent_data: { description: `Order ${order.orderNumber}`, metadata },
    success_url: `${orderUrl}?payment=done`,
    cancel_url: `${orderUrl}?payment=stopped`,
  }
}
