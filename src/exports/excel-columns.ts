import type { Style } from 'exceljs'
import { getMinorUnitDigits } from '../core/formatting/money-formatter.js'
import type { Order } from '../orders/order.js'
import { getCalculationValues } from '../orders/calculation-columns.js'
import { COUNT, DATE, GAS, MASS, getMoneyStyle, getStatusStyle, TEXT } from './excel-styles.js'
import { toExcelText } from '../orders/excel-text.js'
import type { PaymentValues } from '../orders/payment-columns.js'
import { Temporal } from 'temporal-polyfill'
import { DAY_MS } from '../core/time.js'

/**
 * Creates a function that converts an ISO timestamp to a Date whose UTC fields are the local time in
 * a time zone. Excel dates have no time zone.
 */
function createLocalTimeFormat(timeZone: string) {
  const getOffset = (milliseconds: number): number =>
    Temporal.Instant.fromEpochMilliseconds(milliseconds).toZonedDateTimeISO(timeZone)
      .offsetNanoseconds / 1e6

  // Finding an offset is slow, so offsets are cached by day; `null` if the offset changes that day.
  const offsets = new Map<number, number | null>()
  const getDayOffset = (day: number): number | null => {
    let offset = offsets.get(day)
    if (offset === undefined) {
      const startOffset = getOffset(day * DAY_MS)
      offset = startOffset === getOffset((day + 1) * DAY_MS) ? startOffset : null
      offsets.set(day, offset)
    }
    return offset
  }

  return (isoTime: string): Date => {
    const time = Date.parse(isoTime)
    return new Date(time + (getDayOffset(Math.floor(time / DAY_MS)) ?? getOffset(time)))
  }
}

/** An order, and its payment if a guest placed the order. */
export type ExportedOrder = Order & { payment?: PaymentValues | undefined }

interface ExcelCell {
  /** Never a formula */
  value: string | number | Date
  style: Partial<Style>
}

export interface ExcelColumn {
  title: string
  /** In characters */
  width: number
  /** `null` for an empty cell */
  buildCell: (order: ExportedOrder) => ExcelCell | null
}

/** Excel dates start in 1900, and are off by one day before March 1900. */
const MIN_DATE = Date.UTC(1900, 2, 1)
const MAX_DATE = Date.UTC(10_000, 0, 1) - 1

const buildTextCell = (value: unknown, style = TEXT): ExcelCell => ({
  value: toExcelText(String(value)),
  style,
})

const textColumn = (
  title: string,
  width: number,
  getValue: (order: ExportedOrder) => string | null,
): ExcelColumn => ({
  title,
  width,
  buildCell: (order) => {
    const value = getValue(order)
    return value === null || value === '' ? null : buildTextCell(value)
  },
})

const status: ExcelColumn = {
  title: 'Status',
  width: 12,
  buildCell: (order) => buildTextCell(order.status, getStatusStyle(order.status)),
}

const toJson = (value: object | null): string | null =>
  value === null ? null : JSON.stringify(value)

const mass: ExcelColumn = {
  title: 'CO₂e (kg)',
  width: 14,
  buildCell: ({ co2eKg }) => ({ value: co2eKg, style: MASS }),
}

const amount: ExcelColumn = {
  title: 'Amount',
  width: 14,
  buildCell: ({ amountMinor, currency }) => {
    const digits = getMinorUnitDigits(currency)
    return { value: amountMinor / 10 ** digits, style: getMoneyStyle(digits) }
  },
}

const paymentText = (title: string, width: number, name: keyof PaymentValues): ExcelColumn =>
  textColumn(title, width, (order) => {
    const value = order.payment?.[name] ?? null
    return value === null ? null : String(value)
  })

const paymentAmount = (
  title: string,
  name: 'paymentAmountMinor' | 'paymentRefundedMinor',
): ExcelColumn => ({
  title,
  width: 16,
  buildCell: ({ payment }) => {
    const { [name]: value = null, paymentCurrency = null } = payment ?? {}
    if (value === null || paymentCurrency === null) return null
    const digits = getMinorUnitDigits(paymentCurrency)
    return { value: value / 10 ** digits, style: getMoneyStyle(digits) }
  },
})

const PAYMENT: readonly ExcelColumn[] = [
  paymentText('Payment method', 16, 'paymentMethod'),
  paymentText('Payment status', 18, 'paymentStatus'),
  paymentAmount('Payment amount', 'paymentAmountMinor'),
  paymentText('Payment currency', 17, 'paymentCurrency'),
  paymentAmount('Refunded', 'paymentRefundedMinor'),
  paymentText('Dispute', 16, 'paymentDispute'),
  paymentText('Payment problem', 17, 'paymentProblem'),
  paymentText('Checkout session', 30, 'paymentSessionId'),
  paymentText('Payment intent', 30, 'paymentIntentId'),
]

const gas = (title: string, name: 'co2Kg' | 'ch4Kg' | 'n2oKg' | 'biogenicCo2Kg'): ExcelColumn => ({
  title: `${title} (kg)`,
  width: 18,
  buildCell: ({ calculation }) => {
    const value = getCalculationValues(calculation)[name]
    return value === null ? null : { value, style: GAS }
  },
})

const CALCULATION: readonly ExcelColumn[] = [
  textColumn('Framework', 12, (order) => order.calculation?.framework ?? null),
  gas('CO₂', 'co2Kg'),
  gas('CH₄', 'ch4Kg'),
  gas('N₂O', 'n2oKg'),
  gas('Biogenic CO₂', 'biogenicCo2Kg'),
]

const version: ExcelColumn = {
  title: 'Version',
  width: 10,
  buildCell: (order) => ({ value: order.version, style: COUNT }),
}

/** The columns of a workbook, from left to right, with dates in the local time of `timeZone`. */
export function createExcelColumns(timeZone: string): ExcelColumn[] {
  const toLocalTime = createLocalTimeFormat(timeZone)
  const dateColumn = (title: string, getValue: (order: Order) => string | null): ExcelColumn => ({
    title: `${title} (${timeZone})`,
    width: Math.max(18, title.length + timeZone.length + 6),
    buildCell: (order) => {
      const time = getValue(order)
      if (time === null) return null
      const value = toLocalTime(time)
      const isExcelDate = value.getTime() >= MIN_DATE && value.getTime() <= MAX_DATE
      return isExcelDate ? { value, style: DATE } : buildTextCell(time)
    },
  })
  return [
    textColumn('Order number', 15, (order) => order.orderNumber),
    status,
    textColumn('Customer', 28, (order) => order.customerName),
    textColumn('Email', 30, (order) => order.customerEmail),
    textColumn('Vessel', 24, (order) => order.vesselName),
    textColumn('IMO number', 13, (order) => order.imoNumber),
    textColumn('Calculator', 12, (order) => order.calculatorType),
    textColumn('Trip data', 40, (order) => toJson(order.calculatorData)),
    mass,
    amount,
    textColumn('Currency', 11, (order) => order.currency),
    textColumn('Provider order ID', 24, (order) => order.orderSourceId),
    textColumn('Notes', 40, (order) => order.notes),
    dateColumn('Placed', (order) => order.placedAt),
    dateColumn('Created', (order) => order.createdAt),
    dateColumn('Updated', (order) => order.updatedAt),
    dateColumn('Fulfilled', (order) => order.fulfilledAt),
    dateColumn('Cancelled', (order) => order.cancelledAt),
    textColumn('Cancelled from', 15, (order) => order.cancelledFrom),
    dateColumn('Paid', (order) => order.paidAt),
    textColumn('Retirement', 40, (order) => toJson(order.retirement)),
    version,
    textColumn('ID', 12, (order) => order.id),
    textColumn('Factor edition', 14, (order) => order.calculation?.edition ?? null),
    textColumn('Calculation', 40, (order) => toJson(order.calculation)),
    textColumn('Origin', 10, (order) => order.origin),
    textColumn('Checkout', 40, (order) => toJson(order.checkout)),
    ...PAYMENT,
    ...CALCULATION,
  ]
}
