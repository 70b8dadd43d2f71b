import { CALCULATOR_TYPES } from '../../calculator/calculator-data.js'
import type { Order } from '../../orders/order.js'
import { ORDER_STATUSES } from '../../orders/order-status.js'
import { formatIsoTime } from './iso-time.js'
import { NO_NAME_KEY, toOrderNumberKey, toSortKey } from './search-text.js'

/** An order as its table holds it. */
export interface OrderRow {
  id: number
  order_number: string
  order_number_key: string
  status: number
  customer_name: string
  customer_name_key: string
  customer_email: string
  vessel_name: string | null
  vessel_name_key: string
  imo_number: string | null
  calculator_type: number
  calculator_data: string | null
  co2e_kg: number
  amount_minor: number
  currency: string
  order_source_id: string | null
  notes: string
  placed_at: number
  created_at: number
  created_by: string
  updated_at: number
  fulfilled_at: number | null
  cancelled_at: number | null
  version: number
}

/** What an order is made from: all but the keys that only sort, and who entered it. */
export const READ_NAMES = [
  'id',
  'order_number',
  'status',
  'customer_name',
  'customer_email',
  'vessel_name',
  'imo_number',
  'calculator_type',
  'calculator_data',
  'co2e_kg',
  'amount_minor',
  'currency',
  'order_source_id',
  'notes',
  'placed_at',
  'created_at',
  'updated_at',
  'fulfilled_at',
  'cancelled_at',
  'version',
] as const satisfies readonly (keyof OrderRow)[]
/** All columns of an order's row. */
export const ROW_COLUMNS = [
  ...READ_NAMES,
  'order_number_key',
  'customer_name_key',
  'vessel_name_key',
  'created_by',
] as const satisfies readonly (keyof OrderRow)[]

/** What is read of an order's row, as SQL. */
export const READ_COLUMNS = READ_NAMES.map((name) => `orders.${name}`).join(', ')

type Values<Names extends readonly (keyof OrderRow)[]> = {
  [I in keyof Names]: OrderRow[Names[I]]
}
/** Values of READ_COLUMNS, in their order: read `raw`, which takes half the time of objects. */
export type ReadRow = Values<typeof READ_NAMES>

/** A status as rows have it. */
export const toStatusCode = (status: Order['status']): number => ORDER_STATUSES.indexOf(status)
/** A calculator as rows have it; of an order without one, too. */
export const toCalculatorCode = (type: Order['calculatorType']): number =>
  type === null ? -1 : CALCULATOR_TYPES.indexOf(type)

/** A value by its code; one that no code of ours stands for means a damaged store. */
function decoded<T>(values: readonly T[], code: number): T {
  const value = values[code]
  if (value === undefined) throw new Error(`the order store has an unknown code: ${code}`)
  return value
}

/** The status of a row's code; throws for one that none of ours stands for. */
export const fromStatusCode = (code: number): Order['status'] => decoded(ORDER_STATUSES, code)
/** The calculator of a row's code; throws for one that none of ours stands for. */
export const fromCalculatorCode = (code: number): Order['calculatorType'] =>
  code === -1 ? null : decoded(CALCULATOR_TYPES, code)

/** A moment that there may be none of, as text. */
export const formatOptionalIsoTime = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : formatIsoTime(milliseconds)
const timeOrNull = (text: string | null): number | null => (text === null ? null : Date.parse(text))

/** The order of a row; throws where the row has codes that none of ours stand for. */
export const toOrder = ([
  id,
  orderNumber,
  status,
  customerName,
  customerEmail,
  vesselName,
  imoNumber,
  calculatorType,
  calculatorData,
  co2eKg,
  amountMinor,
  currency,
  orderSourceId,
  notes,
  placedAt,
  createdAt,
  updatedAt,
  fulfilledAt,
  cancelledAt,
  version,
]: ReadRow): Order => ({
  id: String(id),
  orderNumber,
  status: fromStatusCode(status),
  customerName,
  customerEmail,
  vesselName,
  imoNumber,
  calculatorType: fromCalculatorCode(calculatorType),
  calculatorData:
    calculatorData === null ? null : (JSON.parse(calculatorData) as Record<string, unknown>),
  co2eKg,
  amountMinor,
  currency,
  orderSourceId,
  notes,
  placedAt: formatIsoTime(placedAt),
  createdAt: formatIsoTime(createdAt),
  updatedAt: formatIsoTime(updatedAt),
  fulfilledAt: formatOptionalIsoTime(fulfilledAt),
  cancelledAt: formatOptionalIsoTime(cancelledAt),
  version,
})

/** The row of an order. */
export const toOrderRow = (order: Order, createdBy: string): OrderRow => ({
  id: Number(order.id),
  order_number: order.orderNumber,
  order_number_key: toOrderNumberKey(order.orderNumber),
  status: toStatusCode(order.status),
  customer_name: order.customerName,
  customer_name_key: toSortKey(order.customerName),
  customer_email: order.customerEmail,
  vessel_name: order.vesselName,
  vessel_name_key: order.vesselName === null ? NO_NAME_KEY : toSortKey(order.vesselName),
  imo_number: order.imoNumber,
  calculator_type: toCalculatorCode(order.calculatorType),
  calculator_data: order.calculatorData === null ? null : JSON.stringify(order.calculatorData),
  co2e_kg: order.co2eKg,
  amount_minor: order.amountMinor,
  currency: order.currency,
  order_source_id: order.orderSourceId,
  notes: order.notes,
  placed_at: Date.parse(order.placedAt),
  created_at: Date.parse(order.createdAt),
  created_by: createdBy,
  updated_at: Date.parse(order.updatedAt),
  fulfilled_at: timeOrNull(order.fulfilledAt),
  cancelled_at: timeOrNull(order.cancelledAt),
  version: order.version,
})
