import { getPaymentStatus, type Payment } from '../../payments/payment.js'
import type { PaymentMethod } from '../checkout.js'

/** Returns the latest payment of each order, by order ID. */
export type FindPayments = (orderIds: readonly string[]) => Promise<ReadonlyMap<string, Payment>>

export const findNoPayments: FindPayments = async () => new Map<string, Payment>()

/** The columns about the payment of an order, after the columns of the order. */
export interface PaymentValues {
  paymentMethod: PaymentMethod | null
  paymentStatus: string | null
  paymentAmountMinor: number | null
  paymentCurrency: string | null
  paymentRefundedMinor: number | null
  paymentDispute: string | null
  paymentProblem: string | null
  paymentSessionId: string | null
  paymentIntentId: string | null
}

export const PAYMENT_COLUMNS = [
  'paymentMethod',
  'paymentStatus',
  'paymentAmountMinor',
  'paymentCurrency',
  'paymentRefundedMinor',
  'paymentDispute',
  'paymentProblem',
  'paymentSessionId',
  'paymentIntentId',
] as const satisfies readonly (keyof PaymentValues)[]

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
