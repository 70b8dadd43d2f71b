import type { Order } from '../order.js'
import { SECTION_PLACES, type NextStep, type OrderSections } from './order-extensions.js'

/** The next step of an order by its status alone; `null` if there is none. */
function findStatusStep(order: Order): NextStep | null {
  if (order.status === 'pending') {
    return {
      title: 'Waiting for payment',
      text:
        order.checkout?.paymentMethod === 'stripe'
          ? 'The order is marked as paid when Stripe reports the payment. Mark it yourself only if the customer pays another way.'
          : 'Mark the order as paid when you have received the payment.',
      action: { type: 'status', status: 'paid' },
    }
  }
  if (order.status !== 'paid' && order.status !== 'processing') return null
  if (order.orderSourceId !== null) {
    return {
      title: 'Placed with the provider',
      text: 'Mark the order as fulfilled when the customer has received proof of the retirement.',
      action: { type: 'status', status: 'fulfilled' },
    }
  }
  if (order.retirement !== null) {
    return {
      title: 'The carbon credits are retired',
      text: 'Mark the order as fulfilled.',
      action: { type: 'status', status: 'fulfilled' },
    }
  }
  return order.status === 'paid'
    ? {
        title: 'Paid',
        text: 'Start processing when you order the carbon credits.',
        action: { type: 'status', status: 'processing' },
      }
    : {
        title: 'In progress',
        text: 'Mark the order as fulfilled when the carbon credits have been retired.',
        action: { type: 'status', status: 'fulfilled' },
      }
}

/** Determines the next step of an order; `null` if there is none. */
export function findNextStep(order: Order, sections: OrderSections): NextStep | null {
  for (const place of SECTION_PLACES) {
    const nextStep = sections[place]?.nextStep
    if (nextStep !== undefined) return nextStep
  }
  return findStatusStep(order)
}
