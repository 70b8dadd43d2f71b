import { Type, type Static } from '@sinclair/typebox'
import { nullable, stringEnum } from '../core/validation/formats.js'
import { textLine } from '../core/validation/text-rules.js'
import { ForGuests, SharePercent } from './share.js'

/** How guests can pay. */
export const PAYMENT_METHODS = ['invoice', 'stripe'] as const
export type PaymentMethod = (typeof PAYMENT_METHODS)[number]

const nullableLine = (maxLength: number, description: string) =>
  nullable(textLine({ maxLength, description }))

const minorUnits = (description: string) => Type.Integer({ minimum: 0, description })

/** The choices of a guest and the prices quoted to the guest. Only an erasure changes them. */
export const Checkout = Type.Object(
  {
    beneficiary: textLine({ maxLength: 120, description: 'Name on the certificate' }),
    isPublic: Type.Boolean({ description: 'Whether the certificate may be published' }),
    company: nullableLine(120, 'Company on the receipt'),
    vatId: nullableLine(40, 'VAT ID on the receipt'),
    portfolioId: nullable(
      Type.Integer({
        description: "ID of the provider's portfolio; null if no provider was configured",
      }),
    ),
    portfolioName: nullableLine(300, 'Name of the portfolio'),
    sharePercent: nullable({
      ...SharePercent,
      description: `${SharePercent.description}; null if forGuests is set`,
    }),
    forGuests: Type.Optional(
      nullable({
        ...ForGuests,
        description: `${ForGuests.description}; null, or missing in older orders, if sharePercent is set`,
      }),
    ),
    pricePerTonneMinor: minorUnits(
      'Price of credits for a tonne of CO2e, without the service fee, in minor units',
    ),
    paidPerTonneMinor: Type.Optional(
      nullable(
        minorUnits(
          'What a tonne cost as paid, with the service fee, in minor units; null if the price was raised to the minimum of an order; missing in older orders',
        ),
      ),
    ),
    offsetMinor: minorUnits('Price of the credits, in minor units'),
    serviceFeeMinor: minorUnits('Service fee, in minor units'),
    // What the guest accepted, because the order itself can be changed later.
    amountMinor: Type.Optional(
      minorUnits('Price that the guest accepted, in minor units; missing in older orders'),
    ),
    currency: Type.Optional(
      Type.String({
        format: 'currency',
        description: 'Currency that the guest accepted, ISO 4217; missing in older orders',
      }),
    ),
    co2eKg: Type.Optional(
      Type.Number({
        minimum: 0,
        description: 'Mass of credits that the guest accepted, kg CO2e; missing in older orders',
      }),
    ),
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
