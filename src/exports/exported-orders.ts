import type { Checkout } from '../orders/order-checkout.js'
import type { Order } from '../orders/order.js'
import { toOrder, type ReadRow } from '../orders/store/order-row.js'
import type { openPaymentReader } from '../payments/payment-store.js'
import { getPaymentStatus, type Payment } from '../payments/payment.js'

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

interface WithPayment {
  /** The latest payment, if a guest placed the order */
  payment?: ReturnType<typeof getPaymentValues>
}
/** A row of the database with its payment: converting each row to an order is slow. */
export type ExportedRow = ReadRow & WithPayment
export type ExportedOrder = Order & WithPayment

/** In batches, because waiting for each one takes much longer. */
export type Batches<T> = Iterable<T[]> | AsyncIterable<T[]>

/** Adds the payments to batches of rows. */
export async function* addPayments(
  batches: Batches<ReadRow>,
  payments: ReturnType<typeof openPaymentReader>,
): AsyncGenerator<ExportedRow[]> {
  for await (const rows of batches) {
    const guestOrders = rows.filter(({ checkout }) => checkout !== null)
    const latest = await payments.find(guestOrders.map(({ id }) => String(id)))
    yield rows.map((row) => {
      if (row.checkout === null) return row
      const checkout = JSON.parse(row.checkout) as Checkout
      return { ...row, payment: getPaymentValues(checkout, latest.get(String(row.id))) }
    })
  }
}

/** Converts batches of rows to orders. */
export async function* toExportedOrders(
  batches: Batches<ExportedRow>,
): AsyncGenerator<ExportedOrder[]> {
  for await (const rows of batches) {
    yield rows.map(({ payment, ...row }) =>
      payment === undefined ? toOrder(row) : { ...toOrder(row), payment },
    )
  }
}
