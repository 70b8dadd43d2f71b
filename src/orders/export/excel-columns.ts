import type { Style } from 'exceljs'
import { getMinorUnitDigits } from '../minor-units.js'
import type { Order } from '../order.js'
import { COUNT, DATE, MASS, moneyStyle, statusStyle, TEXT } from './excel-styles.js'
import { toExcelText } from './excel-text.js'
import { createLocalTimeFormat } from './local-time.js'

/** A value of a kind that is never a formula, and how it looks. */
export interface ExcelCell {
  value: string | number | Date
  style: Partial<Style>
}

export interface ExcelColumn {
  title: string
  /** In characters */
  width: number
  /** What an order has there; `null` for nothing */
  cell: (order: Order) => ExcelCell | null
}

/** Excel counts days from 1900, and counts one too many before March of that year. */
const FIRST_DATE = Date.UTC(1900, 2, 1)
const LAST_DATE = Date.UTC(10_000, 0, 1) - 1

const text = (value: unknown, style = TEXT): ExcelCell => ({
  value: toExcelText(String(value)),
  style,
})

const textColumn = (
  title: string,
  width: number,
  read: (order: Order) => string | null,
): ExcelColumn => ({
  title,
  width,
  cell: (order) => {
    const value = read(order)
    return value === null || value === '' ? null : text(value)
  },
})

const status: ExcelColumn = {
  title: 'Status',
  width: 12,
  cell: (order) => text(order.status, statusStyle(order.status)),
}

const tripData = ({ calculatorData }: Order): string | null =>
  calculatorData === null ? null : JSON.stringify(calculatorData)

const mass: ExcelColumn = {
  title: 'CO2e (kg)',
  width: 14,
  cell: ({ co2eKg }) => ({ value: co2eKg, style: MASS }),
}

const amount: ExcelColumn = {
  title: 'Amount',
  width: 14,
  cell: ({ amountMinor, currency }) => {
    const digits = getMinorUnitDigits(currency)
    return { value: amountMinor / 10 ** digits, style: moneyStyle(digits) }
  },
}

const version: ExcelColumn = {
  title: 'Version',
  width: 10,
  cell: (order) => ({ value: order.version, style: COUNT }),
}

/** The columns of a workbook, from left to right; dates read as clocks in a time zone do. */
export function excelColumns(timeZone: string): ExcelColumn[] {
  const clock = createLocalTimeFormat(timeZone)
  const dateColumn = (title: string, read: (order: Order) => string | null): ExcelColumn => ({
    title: `${title} (${timeZone})`,
    width: Math.max(18, title.length + timeZone.length + 6),
    cell: (order) => {
      const moment = read(order)
      if (moment === null) return null
      const value = clock(moment)
      const isExcelDate = value.getTime() >= FIRST_DATE && value.getTime() <= LAST_DATE
      return isExcelDate ? { value, style: DATE } : text(moment)
    },
  })
  return [
    textColumn('Order number', 15, (order) => order.orderNumber),
    status,
    textColumn('Customer', 28, (order) => order.customerName),
    textColumn('E-mail', 30, (order) => order.customerEmail),
    textColumn('Vessel', 24, (order) => order.vesselName),
    textColumn('IMO number', 13, (order) => order.imoNumber),
    textColumn('Calculator', 12, (order) => order.calculatorType),
    textColumn('Trip data', 40, tripData),
    mass,
    amount,
    textColumn('Currency', 11, (order) => order.currency),
    textColumn('Order source id', 24, (order) => order.orderSourceId),
    textColumn('Notes', 40, (order) => order.notes),
    dateColumn('Placed', (order) => order.placedAt),
    dateColumn('Created', (order) => order.createdAt),
    dateColumn('Updated', (order) => order.updatedAt),
    dateColumn('Fulfilled', (order) => order.fulfilledAt),
    dateColumn('Cancelled', (order) => order.cancelledAt),
    version,
    textColumn('Id', 12, (order) => order.id),
  ]
}
