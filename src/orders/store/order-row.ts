import type { CalculatorType } from '../../calculator/calculator-data.js'
import { toIsoTime } from '../../core/time.js'
import type { AttemptSummary } from '../attempt.js'
import type { OrderException } from '../order-filters.js'
import { toLiveStatus, type LiveStatus, type OrderStatus } from '../order-status.js'
import type { Order } from '../order.js'
import { NO_NAME_KEY, toOrderNumberKey, toSortKey } from './search-text.js'

/**
 * The columns that an order is read from: all except the sort keys, the creator and the attempt.
 */
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
  'cancelled_from',
  'paid_at',
  'retirement',
  'version',
  'calculation',
  'origin',
  'checkout',
] as const satisfies readonly (keyof OrderRow)[]
/** The columns that the search text and the sort keys are made of. */
export const NAME_COLUMNS = [
  'order_number',
  'customer_name',
  'customer_email',
  'vessel_name',
  'imo_number',
] as const satisfies readonly (keyof OrderRow)[]
/** The sort keys. */
export const KEY_COLUMNS = ['order_number_key', 'customer_name_key', 'vessel_name_key'] as const
/** All columns of a row. */
export const ROW_COLUMNS = [
  ...READ_NAMES,
  ...KEY_COLUMNS,
  'created_by',
  'attempt',
] as const satisfies readonly (keyof OrderRow)[]

/** The columns that an order is read from, as SQL. */
export const READ_COLUMNS = READ_NAMES.map((name) => `orders.${name}`).join(', ')

/** The columns that an order is read from. */
export type ReadRow = Pick<OrderRow, (typeof READ_NAMES)[number]>

/** Codes of the `status` column; lists sort by them. The codes are stored, so never change one. */
export const STATUS_CODES = {
  pending: 0,
  paid: 1,
  processing: 2,
  fulfilled: 3,
  refunded: 4,
  cancelled: 5,
} as const satisfies Record<OrderStatus, number>

/** Codes of the `calculator_type` column. The codes are stored, so never change one. */
export const CALCULATOR_CODES = {
  none: -1,
  fuel: 0,
  distance: 1,
  custom: 2,
} as const satisfies Record<CalculatorType | 'none', number>

/**
 * Codes of the `exception` column, which the database computes. The codes are stored, so never
 * change one.
 */
export const EXCEPTION_CODES = {
  not_placed: 1,
  placement_unknown: 2,
  differs: 3,
  not_refunded: 4,
  no_evidence: 5,
} as const satisfies Record<OrderException, number>

const invert = <Name extends string>(codes: Record<Name, number>): Map<number, Name> =>
  new Map((Object.entries(codes) as [Name, number][]).map(([name, code]) => [code, name]))
const STATUSES_BY_CODE = invert(STATUS_CODES)
const CALCULATORS_BY_CODE = invert(CALCULATOR_CODES)

function decode<Name>(namesByCode: Map<number, Name>, code: number): Name {
  const name = namesByCode.get(code)
  if (name === undefined) throw new Error(`The order database contains an unknown code: ${code}`)
  return name
}

export const toStatusCode = (status: OrderStatus): number => STATUS_CODES[status]
export const toCalculatorCode = (type: CalculatorType | null): number =>
  CALCULATOR_CODES[type ?? 'none']

/** Throws if the code is unknown. */
export const fromStatusCode = (code: number): OrderStatus => decode(STATUSES_BY_CODE, code)
/** Throws if the code is unknown. */
export const fromOptionalStatusCode = (code: number | null): LiveStatus | null =>
  code === null ? null : (toLiveStatus(fromStatusCode(code)) ?? null)
/** Throws if the code is unknown. */
export function fromCalculatorCode(code: number): CalculatorType | null {
  const name = decode(CALCULATORS_BY_CODE, code)
  return name === 'none' ? null : name
}

const formatOptionalTime = (milliseconds: number | null): string | null =>
  milliseconds === null ? null : toIsoTime(milliseconds)
const parseOptionalTime = (text: string | null): number | null =>
  text === null ? null : Date.parse(text)

const parseOptional = (json: string | null): unknown => (json === null ? null : JSON.parse(json))

/** Throws if the row has an unknown status or calculator code. */
export const toOrder = (row: ReadRow): Order => ({
  id: String(row.id),
  orderNumber: row.order_number,
  status: fromStatusCode(row.status),
  customerName: row.customer_name,
  customerEmail: row.customer_email,
  vesselName: row.vessel_name,
  imoNumber: row.imo_number,
  calculatorType: fromCalculatorCode(row.calculator_type),
  calculatorData: parseOptional(row.calculator_data) as Order['calculatorData'],
  co2eKg: row.co2e_kg,
  amountMinor: row.amount_minor,
  currency: row.currency,
  orderSourceId: row.order_source_id,
  notes: row.notes,
  placedAt: toIsoTime(row.placed_at),
  createdAt: toIsoTime(row.created_at),
  updatedAt: toIsoTime(row.updated_at),
  fulfilledAt: formatOptionalTime(row.fulfilled_at),
  cancelledAt: formatOptionalTime(row.cancelled_at),
  cancelledFrom: fromOptionalStatusCode(row.cancelled_from),
  paidAt: formatOptionalTime(row.paid_at),
  retirement: parseOptional(row.retirement) as Order['retirement'],
  version: row.version,
  calculation: parseOptional(row.calculation) as Order['calculation'],
  origin: row.origin,
  checkout: parseOptional(row.checkout) as Order['checkout'],
})

/** The fields that the search text and the sort keys are made of. */
export const toNames = (row: Pick<OrderRow, (typeof NAME_COLUMNS)[number]>) => ({
  orderNumber: row.order_number,
  customerName: row.customer_name,
  customerEmail: row.customer_email,
  vesselName: row.vessel_name,
  imoNumber: row.imo_number,
})

/** The columns that orders are sorted by, but not read from. */
export const toSortKeys = ({
  orderNumber,
  customerName,
  vesselName,
}: Pick<Order, 'orderNumber' | 'customerName' | 'vesselName'>) => ({
  order_number_key: toOrderNumberKey(orderNumber),
  customer_name_key: toSortKey(customerName),
  vessel_name_key: vesselName === null ? NO_NAME_KEY : toSortKey(vesselName),
})

const toJson = (value: object | null): string | null =>
  value === null ? null : JSON.stringify(value)

/**
 * The row of an order in the `orders` table; timestamps are in ms since 1970.
 *
 * @param attempt the latest attempt to place the order with the provider
 */
export const toOrderRow = (
  order: Order,
  createdBy: string,
  attempt: AttemptSummary | null = null,
) => ({
  ...toSortKeys(order),
  id: Number(order.id),
  order_number: order.orderNumber,
  status: toStatusCode(order.status),
  customer_name: order.customerName,
  customer_email: order.customerEmail,
  vessel_name: order.vesselName,
  imo_number: order.imoNumber,
  calculator_type: toCalculatorCode(order.calculatorType),
  calculator_data: toJson(order.calculatorData),
  co2e_kg: order.co2eKg,
  amount_minor: order.amountMinor,
  currency: order.currency,
  order_source_id: order.orderSourceId,
  notes: order.notes,
  placed_at: Date.parse(order.placedAt),
  created_at: Date.parse(order.createdAt),
  created_by: createdBy,
  updated_at: Date.parse(order.updatedAt),
  fulfilled_at: parseOptionalTime(order.fulfilledAt),
  cancelled_at: parseOptionalTime(order.cancelledAt),
  version: order.version,
  calculation: toJson(order.calculation),
  origin: order.origin,
  checkout: toJson(order.checkout),
  cancelled_from: order.cancelledFrom === null ? null : toStatusCode(order.cancelledFrom),
  paid_at: parseOptionalTime(order.paidAt),
  retirement: toJson(order.retirement),
  attempt: toJson(attempt),
})

export type OrderRow = ReturnType<typeof toOrderRow>
