import type { PaymentMethod } from './checkout.js'

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
