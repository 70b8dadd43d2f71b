import { Type, type Static } from '@sinclair/typebox'
import { stringEnum } from '../validation/string-enum.js'
import { textLine } from '../validation/text-line.js'

/** Shares of a trip's emissions that guests can buy carbon credits for, in %. */
export const SHARES = [100, 150, 200] as const
export type Share = (typeof SHARES)[number]

/** How guests can pay. */
export const PAYMENT_METHODS = ['invoice', 'stripe'] as const
export type PaymentMethod = (typeof PAYMENT_METHODS)[number]

const nullableLine = (maxLength: number, description: string) =>
  Type.Unsafe<string | null>({ ...textLine({ maxLength, description }), type: ['string', 'null'] })

const minorUnits = (description: string) => Type.Integer({ minimum: 0, description })

/** The choices of a guest and the prices quoted to the guest. Only an erasure changes them. */
export const Checkout = Type.Object(
  {
    beneficiary: textLine({ maxLength: 120, description: 'Name on the certificate' }),
    isPublic: Type.Boolean({ description: 'Whether the certificate may be published' }),
    company: nullableLine(120, 'Company on the receipt'),
    vatId: nullableLine(40, 'VAT ID on the receipt'),
    portfolioId: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description: "ID of the provider's portfolio; null if no provider was configured",
    }),
    portfolioName: nullableLine(300, 'Name of the portfolio'),
    sharePercent: Type.Unsafe<Share>({
      type: 'integer',
      enum: [...SHARES],
      description: "Share of the trip's emissions to buy carbon credits for, %",
    }),
    pricePerTonneMinor: minorUnits('Price of carbon credits for a tonne of CO2e, in minor units'),
    offsetMinor: minorUnits('Price of the carbon credits, in minor units'),
    serviceFeeMinor: minorUnits('Service fee, in minor units'),
    paymentMethod: stringEnum<PaymentMethod>(PAYMENT_METHODS, {
      description: 'How the guest pays',
    }),
  },
  {
    title: 'Checkout',
    description: "The guest's choices; null for other orders",
    additionalProperties: false,
  },
)
export type Checkout = Static<typeof Checkout>
