import { getPaymentStatus, type Payment } from '../payments/payment.js'
import type { PaymentMethod } from '../orders/checkout.js'
import type { PaymentValues } from '../orders/payment-columns.js'

/** Returns the latest payment of each order, by order ID. */
export type FindPayments = (orderIds: readonly string[]) => Promise<ReadonlyMap<string, Payment>>

export const findNoPayments: FindPayments = async () => new Map<string, Payment>()

export const getPaymentValues = (
  method: PaymentMethod | null,
  payment: Payment | undefined,
): PaymentValues => ({
  paymentMethod: method,
  paymentStatus: payment === undefined ? null : getPaymentStatus(payment),
  paymentAmountMinor: payment?.amountMinor ?? null,
  paymentCurrency: payment?.currency ?? null,
  paymentRefundedMinor: payment?.refundedMinor ?? null,
  paymentDispute: payment?.dispute ?? null,
  paymentProblem: payment?.problem ?? null,
  paymentSessionId: payment?.sessionId ?? null,
  paymentIntentId: payment?.intentId ?? null,
})
