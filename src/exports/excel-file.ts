import { once, type EventEmitter } from 'node:events'
import type { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import ExcelJS, { type Fill, type stream, type Style, type Worksheet } from 'exceljs'
import { Temporal } from 'temporal-polyfill'
import { createDayCalendar, type DayCalendar } from '../core/formatting/day-calendar.js'
import { getMinorUnitDigits } from '../core/formatting/number-formatter.js'
import { DAY_MS } from '../core/time.js'
import type { OrderStatus } from '../orders/order-status.js'
import type { Order } from '../orders/order.js'
import { getCalculationValues, toExcelText } from '../orders/spreadsheet-format.js'
import type { Batches, ExportedOrder } from './exported-orders.js'

// exceljs finds styles by identity, so each style is created once and shared by all cells.

const createFill = (argb: string): Fill => ({
  type: 'pattern',
  pattern: 'solid',
  fgColor: { argb },
})

/** Shared by all rows, because exceljs otherwise creates and serialises a style for each row. */
export const ROW: Partial<Style> = {}

export const HEADER: Partial<Style> = {
  font: { bold: true, size: 11, color: { argb: 'FFFFFFFF' }, name: 'Calibri', family: 2 },
  fill: createFill('FF1F3A4D'),
  alignment: { vertical: 'middle', horizontal: 'left' },
  border: { bottom: { style: 'thin', color: { argb: 'FF0F1F2A' } } },
}

/** Format "Text": cells stay text when edited, even if they start with `=`. */
export const TEXT: Partial<Style> = { numFmt: '@', alignment: { vertical: 'top' } }
export const DATE: Partial<Style> = { numFmt: 'yyyy-mm-dd hh:mm', alignment: { vertical: 'top' } }
export const MASS: Partial<Style> = { numFmt: '#,##0.00', alignment: { vertical: 'top' } }
/** Gases such as N2O weigh grams. */
export const GAS: Partial<Style> = { numFmt: '#,##0.00####', alignment: { vertical: 'top' } }
export const COUNT: Partial<Style> = { numFmt: '0', alignment: { vertical: 'top' } }

const createStatusStyle = (argb: string): Partial<Style> => ({ ...TEXT, fill: createFill(argb) })

/** Light enough for black text. */
export const STATUSES: Record<OrderStatus, Partial<Style>> = {
  pending: createStatusStyle('FFFFF3CD'),
  paid: createStatusStyle('FFDCEBFA'),
  processing: createStatusStyle('FFE8E0F5'),
  fulfilled: createStatusStyle('FFDDF2DF'),
  refunded: createStatusStyle('FFFBE3D3'),
  cancelled: createStatusStyle('FFE6E6E6'),
}

const moneyStyles = new Map<number, Partial<Style>>()

/** @param digits decimals of the currency */
export function getMoneyStyle(digits: number): Partial<Style> {
  let style = moneyStyles.get(digits)
  if (style === undefined) {
    const decimals = digits === 0 ? '' : `.${'0'.repeat(digits)}`
    style = { numFmt: `#,##0${decimals}`, alignment: { vertical: 'top' } }
    moneyStyles.set(digits, style)
  }
  return style
}

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

declare module 'exceljs' {
  interface Worksheet {
    /** Buffer of a streamed sheet, piped into the zip archive. */
    readonly stream: { pipes: readonly SheetOutput[] }
  }
  interface Row {
    /** Default style of the cells of the row. */
    style: Partial<Style>
  }
}

/** exceljs ignores back-pressure, so the length of its output buffer is checked instead. */
interface SheetOutput extends EventEmitter {
  _writableState: { length: number }
}

const MAX_BUFFERED_BYTES = 512 * 1024
/** Yield to the event loop after this many rows, so that compression can proceed. */
const ROWS_PER_TICK = 8
const HEADER_HEIGHT = 22

async function drain(sheet: Worksheet): Promise<void> {
  await setImmediate()
  for (const output of sheet.stream.pipes) {
    if (output._writableState.length > MAX_BUFFERED_BYTES) await once(output, 'drain')
  }
}

/** Adds a sheet with a frozen header row; call `end` after the last order. */
function createExcelSheet(
  workbook: stream.xlsx.WorkbookWriter,
  name: string,
  columns: readonly ExcelColumn[],
) {
  const sheet = workbook.addWorksheet(name, {
    views: [{ state: 'frozen', ySplit: 1 }],
    properties: { defaultRowHeight: 15 },
  })
  sheet.columns = columns.map(({ width }) => ({ width }))
  const header = sheet.getRow(1)
  header.height = HEADER_HEIGHT
  columns.forEach(({ title }, index) => {
    const cell = header.getCell(index + 1)
    cell.value = title
    cell.style = HEADER
  })
  header.commit()
  let rows = 1

  return {
    /** The number of rows, including the header. */
    countRows: (): number => rows,
    /** Adds an order; await the result before adding the next one (back-pressure). */
    add(order: ExportedOrder): Promise<void> | undefined {
      const row = sheet.getRow(++rows)
      row.style = ROW
      columns.forEach((column, index) => {
        const content = column.buildCell(order)
        if (content === null) return
        const cell = row.getCell(index + 1)
        cell.value = content.value
        cell.style = content.style
      })
      row.commit()
      return rows % ROWS_PER_TICK === 0 ? drain(sheet) : undefined
    },
    end(): void {
      sheet.autoFilter = {
        from: { row: 1, column: 1 },
        to: { row: rows, column: columns.length },
      }
      sheet.commit()
    },
  }
}

const MAX_ROWS = 1_048_576

interface Options {
  /** Time zone of the dates; Excel dates have no time zone */
  timeZone: string
  /** Including the header */
  rowsPerSheet?: number
}

/** Writes orders as an Excel workbook with as many sheets as needed. Ends the stream. */
export async function writeWorkbook(
  batches: Batches<ExportedOrder>,
  file: Writable,
  { timeZone, rowsPerSheet = MAX_ROWS }: Options,
): Promise<void> {
  const workbook = new ExcelJS.stream.xlsx.WorkbookWriter({
    stream: file,
    useStyles: true,
    useSharedStrings: false,
  })
  workbook.creator = 'Clearwake'
  workbook.lastModifiedBy = 'Clearwake'
  workbook.created = workbook.modified = new Date()

  const columns = createExcelColumns(timeZone)
  let sheetCount = 1
  let sheet = createExcelSheet(workbook, 'Orders', columns)
  for await (const orders of batches) {
    for (const order of orders) {
      if (sheet.countRows() === rowsPerSheet) {
        sheet.end()
        sheet = createExcelSheet(workbook, `Orders ${++sheetCount}`, columns)
      }
      await sheet.add(order)
    }
  }
  sheet.end()
  await workbook.commit()
}
