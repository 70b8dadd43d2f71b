import type { Style } from 'exceljs'
import { Temporal } from 'temporal-polyfill'
import { createDayCalendar, type DayCalendar } from '../core/formatting/day-calendar.js'
import { getMinorUnitDigits } from '../core/formatting/money-formatter.js'
import { DAY_MS } from '../core/time.js'
import { getCalculationValues, toExcelText } from '../orders/export-format.js'
import type { Order } from '../orders/order.js'
import { COUNT, DATE, GAS, getMoneyStyle, MASS, STATUSES, TEXT } from './excel-styles.js'
import type { ExportedOrder } from './exported-orders.js'

type PaymentValues = NonNullable<ExportedOrder['payment']>

/** Returns a Date whose UTC fields are the local time, because Excel dates have no time zone. */
function toLocalTime(isoTime: string, calendar: DayCalendar): Date {
  const time = Date.parse(isoTime)
  const day = calendar.dayOf(time)
  const start = calendar.startOf(day)
  if (calendar.startOf(day + 1) - start === DAY_MS) return new Date(day * DAY_MS + time - start)
  // The offset changes on this day. Finding it is slow.
  const zoned = Temporal.Instant.fromEpochMilliseconds(time).toZonedDateTimeISO(calendar.timeZone)
  return new Date(time + zoned.offsetNanoseconds / 1e6)
}

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

const toJson = (value: object | null): string | null =>
  value === null ? null : JSON.stringify(value)

/** @param amountMinor `null` if there is no amount */
function buildMoneyCell(amountMinor: number | null, currency: string): ExcelCell | null {
  if (amountMinor === null) return null
  const digits = getMinorUnitDigits(currency)
  return { value: amountMinor / 10 ** digits, style: getMoneyStyle(digits) }
}

const paymentText = (title: string, width: number, name: keyof PaymentValues): ExcelColumn =>
  textColumn(title, width, ({ payment }) => {
    const value = payment?.[name] ?? null
    return value === null ? null : String(value)
  })

const paymentAmount = (
  title: string,
  name: 'paymentAmountMinor' | 'paymentRefundedMinor',
): ExcelColumn => ({
  title,
  width: 16,
  buildCell: ({ payment }) =>
    payment?.paymentCurrency == null
      ? null
      : buildMoneyCell(payment[name], payment.paymentCurrency),
})

const gas = (title: string, name: 'co2Kg' | 'ch4Kg' | 'n2oKg' | 'biogenicCo2Kg'): ExcelColumn => ({
  title: `${title} (kg)`,
  width: 18,
  buildCell: ({ calculation }) => {
    const value = getCalculationValues(calculation)[name]
    return value === null ? null : { value, style: GAS }
  },
})

/** The columns of a workbook, from left to right, with dates in the local time of `timeZone`. */
export function createExcelColumns(timeZone: string): ExcelColumn[] {
  const calendar = createDayCalendar(timeZone)
  const dateColumn = (title: string, getValue: (order: Order) => string | null): ExcelColumn => ({
    title: `${title} (${timeZone})`,
    width: Math.max(18, title.length + timeZone.length + 6),
    buildCell: (order) => {
      const time = getValue(order)
      if (time === null) return null
      const value = toLocalTime(time, calendar)
      const isExcelDate = value.getTime() >= MIN_DATE && value.getTime() <= MAX_DATE
      return isExcelDate ? { value, style: DATE } : buildTextCell(time)
    },
  })
  return [
    textColumn('Order number', 15, (order) => order.orderNumber),
    {
      title: 'Status',
      width: 12,
      buildCell: ({ status }) => buildTextCell(status, STATUSES[status]),
    },
    textColumn('Customer', 28, (order) => order.customerName),
    textColumn('Email', 30, (order) => order.customerEmail),
    textColumn('Vessel', 24, (order) => order.vesselName),
    textColumn('IMO number', 13, (order) => order.imoNumber),
    textColumn('Calculator', 12, (order) => order.calculatorType),
    textColumn('Trip data', 40, (order) => toJson(order.calculatorData)),
    {
      title: 'CO₂e (kg)',
      width: 14,
      buildCell: ({ co2eKg }) => ({ value: co2eKg, style: MASS }),
    },
    {
      title: 'Amount',
      width: 14,
      buildCell: ({ amountMinor, currency }) => buildMoneyCell(amountMinor, currency),
    },
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
    {
      title: 'Version',
      width: 10,
      buildCell: ({ version }) => ({ value: version, style: COUNT }),
    },
    textColumn('ID', 12, (order) => order.id),
    textColumn('Factor edition', 14, (order) => order.calculation?.edition ?? null),
    textColumn('Calculation', 40, (order) => toJson(order.calculation)),
    textColumn('Origin', 10, (order) => order.origin),
    textColumn('Checkout', 40, (order) => toJson(order.checkout)),
    paymentText('Payment method', 16, 'paymentMethod'),
    paymentText('Payment status', 18, 'paymentStatus'),
    paymentAmount('Payment amount', 'paymentAmountMinor'),
    paymentText('Payment currency', 17, 'paymentCurrency'),
    paymentAmount('Refunded', 'paymentRefundedMinor'),
    paymentText('Dispute', 16, 'paymentDispute'),
    paymentText('Payment problem', 17, 'paymentProblem'),
    paymentText('Checkout session', 30, 'paymentSessionId'),
    paymentText('Payment intent', 30, 'paymentIntentId'),
    textColumn('Framework', 12, (order) => order.calculation?.framework ?? null),
    gas('CO₂', 'co2Kg'),
    gas('CH₄', 'ch4Kg'),
    gas('N₂O', 'n2oKg'),
    gas('Biogenic CO₂', 'biogenicCo2Kg'),
  ]
}
