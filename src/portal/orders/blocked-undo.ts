import type { OrderStore } from '../../orders/store/order-store.js'
import { getPreviousStatus } from '../../orders/undo.js'
import type { Order } from '../../orders/order.js'
import type { PaymentStore } from '../../payments/payment-store.js'
import { findUndoProblem } from '../../payments/payment.js'

/** Says why payments forbid to undo the last change of an order's status; `null` if they do not. */
export async function explainBlockedUndo(
  order: Order,
  store: Pick<OrderStore, 'getHistory'>,
  payments: Pick<PaymentStore, 'list'>,
): Promise<string | null> {
  const previous = getPreviousStatus(order, (await store.getHistory(order.id)) ?? [])
  return previous === undefined
    ? null
    : findUndoProblem(order.status, previous, await payments.list(order.id))
}
