import { Type, type Static, type TSchema } from '@sinclair/typebox'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  CalculatorTypeSchema,
} from '../calculator/calculator-data.js'
import { EXAMPLES } from '../calculator/examples.js'
import { ImoNumber, VesselName } from '../calculator/vessel.js'
import { stringEnum } from '../validation/string-enum.js'
import { textLine } from '../validation/text-line.js'
import { HIGHEST_IMPORTED_ID } from './order-id.js'
import { LIVE_STATUSES, ORDER_STATUSES, type LiveStatus, type OrderStatus } from './order-status.js'

/** A field that may be without a value. */
const nullable = <S extends TSchema>(schema: S) =>
  Type.Unsafe<Static<S> | null>({
    ...schema,
    type: [schema.type as string, 'null'],
    ...(Array.isArray(schema.enum) ? { enum: [...(schema.enum as unknown[]), null] } : {}),
  })

/** A million tonnes and ten thousand million of a currency: what is more is a slip. */
const MOST_CO2E_KG = 1_000_000_000
const MOST_AMOUNT_MINOR = 1_000_000_000_000

export const StatusSchema = stringEnum<OrderStatus>(ORDER_STATUSES, {
  description: 'Where it stands',
})

const LiveStatusSchema = stringEnum<LiveStatus>(LIVE_STATUSES, {
  'x-message': `must be one of ${LIVE_STATUSES.join(', ')}; an order is cancelled by DELETE`,
  description: 'Where it stands; an order is cancelled by DELETE',
})

const customerName = textLine({ maxLength: 120, description: 'Who ordered' })
const customerEmail = Type.String({
  maxLength: 254,
  format: 'email-address',
  'x-message': 'must be an e-mail address, such as ann@example.com',
  description: 'Their e-mail address',
})
const co2eKg = Type.Number({
  minimum: 0,
  maximum: MOST_CO2E_KG,
  description: 'Mass to offset, kg CO2e',
})
const amountMinor = Type.Integer({
  minimum: 0,
  maximum: MOST_AMOUNT_MINOR,
  description: 'Price in minor units of the currency (ISO 4217), such as cents',
})
export const Currency = Type.String({
  format: 'currency',
  'x-message': 'must be an ISO 4217 code in capitals, such as EUR',
  description: 'ISO 4217 code',
})
const orderSourceId = textLine({
  maxLength: 120,
  description: 'The offset order at the order source',
})
const notes = Type.String({
  maxLength: 10_000,
  format: 'text',
  description: "The administrators' own text",
})
const orderNumber = textLine({
  maxLength: 40,
  format: 'order-number',
  'x-message':
    'must be one line with something to read in it, without control characters or spaces at its ends',
  description: 'For people; unique',
})
const moment = (description: string) =>
  Type.String({
    format: 'date-time',
    'x-message':
      'must be a moment from 1900 to 2199, in UTC too, with its offset, such as 2026-11-20T09:30:00Z',
    description,
  })

const calculatorData = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  description: "That calculator's data",
  additionalProperties: true,
})

/** A customer's order to offset a trip. */
export const Order = Type.Object(
  {
    id: Type.String({ description: 'Identifies the order in this store' }),
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
    placedAt: moment('When the customer ordered; filters, sorting and statistics go by it'),
    createdAt: moment('When the record was made'),
    updatedAt: moment('When it was last changed'),
    fulfilledAt: nullable(moment('When it was fulfilled')),
    cancelledAt: nullable(moment('When it was cancelled')),
    version: Type.Integer({ minimum: 1, description: 'One more at every change; also the ETag' }),
  },
  { title: 'Order', additionalProperties: false },
)
export type Order = Static<typeof Order>

export type TextField =
  | 'orderNumber'
  | 'customerName'
  | 'customerEmail'
  | 'vesselName'
  | 'imoNumber'
  | 'orderSourceId'
  | 'notes'

/** How many characters (code points) a field of text has at most. */
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
    moment('When the customer ordered, not in the future; now where it is left out'),
  ),
}

/** Data belong to a calculator, and their rules are that calculator's. */
const matchingData = {
  allOf: CALCULATOR_TYPES.map((type) => ({
    if: { properties: { calculatorType: { const: type } }, required: ['calculatorType'] },
    then: {
      properties: {
        calculatorData: { ...CALCULATOR_DATA[type], type: ['object', 'null'] },
      },
    },
  })),
}

/** What an order is entered or delivered with. */
export const NewOrder = Type.Object(newOrderFields, {
  title: 'New order',
  additionalProperties: false,
  'x-new-order': true,
  ...matchingData,
  examples: [
    {
      customerName: 'Ann Example',
      customerEmail: 'ann@example.com',
      vesselName: 'Ever Given',
      imoNumber: '9811000',
      ...EXAMPLES.fuel,
      co2eKg: 1603.6,
      amountMinor: 4009,
      currency: 'EUR',
    },
  ],
})
export type NewOrder = Static<typeof NewOrder>

/** An order as a file of orders has it: with what its record says of itself, where known. */
export const ImportedOrder = Type.Object(
  {
    ...newOrderFields,
    status: Type.Optional(StatusSchema),
    id: Type.Optional(
      Type.String({
        format: 'imported-order-id',
        'x-message': `must be a whole number from 1 to ${HIGHEST_IMPORTED_ID}`,
      }),
    ),
    orderNumber: Type.Optional(orderNumber),
    createdAt: Type.Optional(moment('When the record was made')),
    updatedAt: Type.Optional(moment('When it was last changed')),
    fulfilledAt: Type.Optional(nullable(moment('When it was fulfilled'))),
    cancelledAt: Type.Optional(nullable(moment('When it was cancelled'))),
    version: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000_000 })),
  },
  { additionalProperties: false, ...matchingData },
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
}

/** What an administrator may change of an order. */
export const OrderChanges = Type.Partial(Type.Object(changeableFields), {
  title: 'Changes of an order',
  additionalProperties: false,
  'x-fixed': Object.keys(Order.properties).filter((name) => !(name in changeableFields)),
  examples: [{ status: 'paid', notes: 'Paid by bank transfer' }],
})
export type OrderChanges = Static<typeof OrderChanges>

/** One field of an order, before and after. */
export interface FieldChange {
  field: string
  from: unknown
  to: unknown
}

/** A version of an order: the change that created it, and by whom. */
export interface HistoryEntry {
  /** ISO 8601 */
  at: string
  by: string
  version: number
  changes: FieldChange[]
}
