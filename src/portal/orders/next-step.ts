import type { Order } from '../../orders/order.js'
import type { OrderStatus } from '../../orders/order-status.js'
import type { OrderMessage } from '../../orders/order-messages.js'
import type { FulfilmentView } from './fulfilment-view.js'
import type { PaymentView } from './payment-view.js'

export interface NextStep {
  title: string
  text: string
  action:
    | { type: 'status'; status: OrderStatus }
    | { type: 'place'; buttonLabel: string }
    /** Links to the section to review; by default, the offset order */
    | { type: 'review'; href?: string }
}

/**
 * Determines the next step of an order; `null` if there is none.
 *
 * @param placement the order's automatic placement; `null` if there is none
 */
export function findNextStep(
  order: Order,
  fulfilment: FulfilmentView,
  payments: readonly PaymentView[],
  placement: OrderMessage | null,
): NextStep | null {
  const notice = payments.flatMap(({ notices }) => notices)[0]
  if (notice !== undefined) {
    return {
      title: 'The payment needs attention',
      text: `${notice.title}.`,
      action: { type: 'review', href: '#payments' },
    }
  }
  const { id, placeUrl, unresolved, warnings } = fulfilment
  if (unresolved !== null) {
    if (unresolved.isInProgress) return null
    return unresolved.lostProviderId === null
      ? {
          title: 'Placement status unknown',
          text: 'Check with the provider before you do anything else.',
          action: { type: 'review' },
        }
      : {
          title: 'The provider order ID is missing',
          text: 'The order was placed. Enter the ID again.',
          action: { type: 'review' },
        }
  }
  if (warnings[0] !== undefined) {
    return {
      title: 'The offset order needs attention',
      text: `${warnings[0].title}.`,
      action: { type: 'review' },
    }
  }
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
  if (id !== null) {
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
  if (placeUrl !== null && placement?.state === 'failed') {
    return {
      title: 'The offset order was not placed automatically',
      text: `${placement.detail ?? ''} Correct the cause, then place it here. You will see the price before anything is ordered.`.trim(),
      action: { type: 'place', buttonLabel: 'Try again…' },
    }
  }
  if (placeUrl !== null) {
    return {
      title: 'Paid. Place the offset order.',
      text: 'You will see the price before anything is ordered.',
      action: { type: 'place', buttonLabel: 'Place offset order…' },
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
