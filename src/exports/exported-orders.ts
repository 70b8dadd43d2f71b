import type { Checkout } from '../orders/checkout.js'
import type { Order } from '../orders/order.js'
import { toOrder, type ReadRow } from '../orders/store/order-row.js'
import { getPaymentStatus, type Payment } from '../payments/payment.js'
import type { openPaymentReader } from '../payments/payment-reader.js'

const getPaymentValues = ({ paymentMethod }: Checkout, payment: Payment | undefined) => ({
  paymentMethod,
  paymentStatus: payment === undefined ? null : getPaymentStatus(payment),
  paymentAmountMinor: payment?.amountMinor ?? null,
  paymentCurrency: payment?.currency ?? null,
  paymentRefundedMinor: payment?.refundedMinor ?? null,
  paymentDispute: payment?.dispute ?? null,
  paymentProblem: payment?.problem ?? null,
  paymentSessionId: payment?.sessionId ?? null,
  paymentIntentId: payment?.intentId ?? null,
})

/** An order, and its latest payment if a guest placed the order. */
export type ExportedOrder = Order & { payment?: ReturnType<typeof getPaymentValues> }

/** Converts rows to orders, and adds their payments. */
export async function* toExportedOrders(
  batches: AsyncIterable<ReadRow[]>,
  payments: ReturnType<typeof openPaymentReader>,
): AsyncGenerator<ExportedOrder> {
  for await (const rows of batches) {
    const orders = rows.map(toOrder)
    const guestOrders = orders.filter(({ checkout }) => checkout !== null)
    const latest = await payments.find(guestOrders.map(({ id }) => id))
    yield* orders.map((order) =>
      order.checkout === null
        ? order
        : { ...order, payment: getPaymentValues(order.checkout, latest.get(order.id)) },
    )
  }
}
