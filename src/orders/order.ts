import { Type, type Static } from '@sinclair/typebox'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  CalculatorTypeSchema,
  EXAMPLES,
} from '../calculator/calculator-data.js'
import { RecordedCalculation } from '../calculator/recorded-calculation.js'
import { ImoNumber, VesselName } from '../calculator/vessel.js'
import { emailAddress } from '../core/validation/email-address.js'
import { nullable, stringEnum } from '../core/validation/formats.js'
import { isTextLine, textLine } from '../core/validation/text-rules.js'
import { Checkout } from './order-checkout.js'
import { LIVE_STATUSES, ORDER_STATUSES, type LiveStatus, type OrderStatus } from './order-status.js'

const FORMAT = /^[1-9]\d{0,15}$/

/**
 * The highest ID that an import can assign. New orders continue after the highest ID, and JSON
 * represents integers exactly up to 2^53 only.
 */
export const MAX_IMPORTED_ID = 1_000_000_000_000

/** Parses an order ID, a positive safe integer; `null` if it is invalid. */
export function parseOrderId(id: string): number | null {
  const number = Number(id)
  return FORMAT.test(id) && Number.isSafeInteger(number) ? number : null
}

/** Whether an import can assign this ID. */
export function isImportedId(id: string): boolean {
  const number = parseOrderId(id)
  return number !== null && number <= MAX_IMPORTED_ID
}

export const ORDER_NUMBER_PREFIX = 'CW-'
const MIN_DIGITS = 6

/** Formats an order number, such as CW-000042. */
export const formatOrderNumber = (number: number): string =>
  `${ORDER_NUMBER_PREFIX}${String(number).padStart(MIN_DIGITS, '0')}`

/** Whether a string is a valid order number: one line without surrounding whitespace. */
export const isOrderNumber = (text: string): boolean => isTextLine(text) && text.trim() === text

/** Finds the order numbers of this service in text. */
export const findOrderNumbers = (text: string): string[] => [
  ...new Set(text.match(new RegExp(`\\b${ORDER_NUMBER_PREFIX}\\d{${MIN_DIGITS},}\\b`, 'g'))),
]

/**
 * A million tonnes, and ten billion in currencies with two decimals. Higher values are probably
 * typing errors.
 */
const MAX_CO2E_KG = 1_000_000_000
const MAX_AMOUNT_MINOR = 1_000_000_000_000

export const StatusSchema = stringEnum<OrderStatus>(ORDER_STATUSES, {
  description: 'Status of the order',
})

const LiveStatusSchema = stringEnum<LiveStatus>(LIVE_STATUSES, {
  'x-message': `must be one of ${LIVE_STATUSES.join(', ')}; use DELETE to cancel an order`,
  description: 'Status of the order; use DELETE to cancel it',
})

const customerName = textLine({ maxLength: 120, description: 'Name of the customer' })
const customerEmail = emailAddress({ description: 'Email address of the customer' })
const co2eKg = Type.Number({
  minimum: 0,
  maximum: MAX_CO2E_KG,
  description: 'Mass to buy carbon credits for, kg CO2e',
})
const amountMinor = Type.Integer({
  minimum: 0,
  maximum: MAX_AMOUNT_MINOR,
  description: 'Price in minor units of the currency (ISO 4217), such as cents',
})
export const Currency = Type.String({
  format: 'currency',
  'x-message': 'must be an ISO 4217 code in capitals, such as EUR',
  description: 'ISO 4217 code',
})
const orderSourceId = textLine({
  maxLength: 120,
  description: 'ID of the offset order at the provider',
})
const notes = Type.String({
  maxLength: 10_000,
  format: 'text',
  description: 'Notes for administrators',
})
const orderNumber = textLine({
  maxLength: 40,
  format: 'order-number',
  'x-message': 'must be one line of visible text, without control characters or surrounding spaces',
  description: 'Unique order number for correspondence',
})
const dateTime = (description: string) =>
  Type.String({
    format: 'date-time',
    'x-message':
      'must be a date and time from 1900 to 2199 in UTC, with an offset, such as 2026-11-20T09:30:00Z',
    description,
  })

const calculatorData = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: 'Input of the calculator',
  additionalProperties: true,
})

/** How orders are created: by a guest, in the portal, or through the API. */
export const ORDER_ORIGINS = ['guest', 'admin', 'api'] as const
export type OrderOrigin = (typeof ORDER_ORIGINS)[number]

/** Evidence that carbon credits were retired, entered by staff. */
const Retirement = Type.Object(
  {
    registry: textLine({ maxLength: 120, description: 'Registry that retired the credits' }),
    reference: textLine({
      maxLength: 500,
      description: 'Serial numbers, or the number of the retirement in the registry',
    }),
    url: Type.Optional(
      Type.String({
        maxLength: 2000,
        format: 'https-url',
        'x-message': 'must be an https URL, without user name and password',
        description: 'Page of the retirement in the registry',
      }),
    ),
    standard: Type.Optional(textLine({ maxLength: 120, description: 'Standard of the credits' })),
    vintage: Type.Optional(
      textLine({ maxLength: 40, description: 'Year, or years, of the reductions or removals' }),
    ),
    retiredAt: Type.String({
      format: 'past-date',
      'x-message': 'must be a date, or a date and time with an offset, that is not in the future',
      description: 'When the credits were retired: a date, or a date and time',
    }),
  },
  {
    title: 'Retirement',
    description:
      'Evidence that carbon credits were retired for the order; setting it needs orders:settle',
    additionalProperties: false,
  },
)
export type Retirement = Static<typeof Retirement>
const retirement = nullable(Retirement)

/** A customer's order of carbon credits. */
export const Order = Type.Object(
  {
    id: Type.String({ description: 'ID of the order' }),
    orderNumber,
    status: StatusSchema,
    customerName,
    customerEmail,
    vesselName: nullable(VesselName),
    imoNumber: nullable(ImoNumber),
    calculatorType: nullable(CalculatorTypeSchema),
    calculatorData: nullable(calculatorData),
    co2eKg,
    amountMinor,
    currency: Currency,
    orderSourceId: nullable(orderSourceId),
    notes,
    placedAt: dateTime('When the customer ordered; used by filters, sorting and statistics'),
    createdAt: dateTime('When the order was created in Clearwake'),
    updatedAt: dateTime('When the order was last changed'),
    fulfilledAt: nullable(dateTime('When the order was fulfilled')),
    cancelledAt: nullable(dateTime('When the order was cancelled')),
    cancelledFrom: nullable(
      stringEnum<LiveStatus>(LIVE_STATUSES, {
        description:
          'Status before the cancellation; null if the order is not cancelled, or if unknown',
      }),
    ),
    paidAt: nullable(
      dateTime('When the order was first paid, or skipped that status; null if it never was'),
    ),
    retirement,
    version: Type.Integer({
      minimum: 1,
      description: 'Incremented by every change; also the ETag',
    }),
    calculation: nullable(RecordedCalculation),
    origin: nullable(
      stringEnum<OrderOrigin>(ORDER_ORIGINS, {
        description: 'Who created the order: guest, admin (in the portal) or api',
      }),
    ),
    checkout: nullable(Checkout),
  },
  { title: 'Order', additionalProperties: false },
)
export type Order = Static<typeof Order>

/** What a caller who may not read orders receives after a change. */
export const OrderReference = Type.Pick(Order, ['id', 'status', 'version'], {
  title: 'Reference to an order',
  additionalProperties: false,
})

export type TextField =
  | 'orderNumber'
  | 'customerName'
  | 'customerEmail'
  | 'vesselName'
  | 'imoNumber'
  | 'orderSourceId'
  | 'notes'

/** Maximum length of a text field, in code points. */
export const getMaxLength = (field: TextField): number =>
  (Order.properties[field] as { maxLength?: number }).maxLength ?? Infinity

const newOrderFields = {
  status: Type.Optional(LiveStatusSchema),
  customerName,
  customerEmail,
  vesselName: Type.Optional(nullable(VesselName)),
  imoNumber: Type.Optional(nullable(ImoNumber)),
  calculatorType: Type.Optional(nullable(CalculatorTypeSchema)),
  calculatorData: Type.Optional(nullable(calculatorData)),
  co2eKg,
  amountMinor,
  currency: Currency,
  orderSourceId: Type.Optional(nullable(orderSourceId)),
  notes: Type.Optional(notes),
  placedAt: Type.Optional(
    dateTime('When the customer ordered, not in the future; defaults to now'),
  ),
}

/** Validates calculatorData against the schema of its calculator. */
const calculatorDataRules = {
  allOf: CALCULATOR_TYPES.map((type) => ({
    if: { properties: { calculatorType: { const: type } }, required: ['calculatorType'] },
    then: {
      properties: {
        calculatorData: { ...CALCULATOR_DATA[type], type: ['object', 'null'] },
      },
    },
  })),
}

const newOrderOptions = {
  title: 'New order',
  additionalProperties: false,
  'x-new-order': true,
  ...calculatorDataRules,
  examples: [
    {
      customerName: 'Ann Example',
      customerEmail: 'ann@example.com',
      vesselName: 'Ever Given',
      imoNumber: '9811000',
      ...EXAMPLES.fuel,
      co2eKg: 1653.135,
      amountMinor: 4009,
      currency: 'EUR',
    },
  ],
}

/** An order to create. */
export const NewOrder = Type.Object(newOrderFields, newOrderOptions)
export type NewOrder = Static<typeof NewOrder> & Partial<Pick<Order, 'origin' | 'checkout'>>

/** An order to create through the API. */
export const NewOrderRequest = Type.Object(
  {
    ...newOrderFields,
    co2eKg: Type.Optional({
      ...co2eKg,
      description: 'Mass to buy carbon credits for, kg CO2e; calculated from the trip if left out',
    }),
  },
  { ...newOrderOptions, 'x-co2e-or-trip': true },
)

const storedFields = Type.Pick(Order, [
  'orderNumber',
  'createdAt',
  'updatedAt',
  'fulfilledAt',
  'cancelledAt',
  'calculation',
  'origin',
  'checkout',
  'cancelledFrom',
  'paidAt',
  'retirement',
])

/** An order to import, with the fields that the store otherwise assigns. */
export const ImportedOrder = Type.Object(
  {
    ...newOrderFields,
    ...Type.Partial(storedFields).properties,
    // Exports of earlier versions can contain addresses that are not accepted any more.
    customerEmail: { ...customerEmail, format: 'known-email-address' },
    status: Type.Optional(StatusSchema),
    id: Type.Optional(
      Type.String({
        format: 'imported-order-id',
        'x-message': `must be a whole number from 1 to ${MAX_IMPORTED_ID}`,
      }),
    ),
    version: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  },
  { additionalProperties: false, ...calculatorDataRules },
)
export type ImportedOrder = Static<typeof ImportedOrder>

const changeableFields = {
  status: LiveStatusSchema,
  customerName,
  customerEmail,
  vesselName: nullable(VesselName),
  imoNumber: nullable(ImoNumber),
  co2eKg,
  amountMinor,
  currency: Currency,
  orderSourceId: nullable(orderSourceId),
  notes,
  retirement,
}

/** The fields of an order that can be edited. */
export const OrderChanges = Type.Partial(Type.Object(changeableFields), {
  title: 'Changes to an order',
  minProperties: 1,
  additionalProperties: false,
  'x-fixed': Object.keys(Order.properties).filter((name) => !(name in changeableFields)),
  examples: [{ status: 'paid', notes: 'Paid by bank transfer' }],
})
export type OrderChanges = Static<typeof OrderChanges>

/** The value of a field before and after a change. */
export interface FieldChange {
  field: string
  from: unknown
  to: unknown
}

/** The change that created a version of an order, and who made the change. */
export interface HistoryEntry {
  /** ISO 8601 */
  at: string
  by: string
  version: number
  changes: FieldChange[]
}
