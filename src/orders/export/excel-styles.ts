import type { Fill, Style } from 'exceljs'
import type { OrderStatus } from '../order-status.js'

// exceljs looks a style up by its identity: each is made once and shared by all cells.

const filled = (argb: string): Fill => ({
  type: 'pattern',
  pattern: 'solid',
  fgColor: { argb },
})

/** Of rows: left to itself, exceljs makes one for each and writes it as XML to look it up. */
export const PLAIN: Partial<Style> = {}

export const HEADER: Partial<Style> = {
  font: { bold: true, size: 11, color: { argb: 'FFFFFFFF' }, name: 'Calibri', family: 2 },
  fill: filled('FF1F3A4D'),
  alignment: { vertical: 'middle', horizontal: 'left' },
  border: { bottom: { style: 'thin', color: { argb: 'FF0F1F2A' } } },
}

/** Cells of the format "Text" stay text when somebody edits them, whatever they begin with. */
export const TEXT: Partial<Style> = { numFmt: '@', alignment: { vertical: 'top' } }
export const DATE: Partial<Style> = { numFmt: 'yyyy-mm-dd hh:mm', alignment: { vertical: 'top' } }
export const MASS: Partial<Style> = { numFmt: '#,##0.00', alignment: { vertical: 'top' } }
export const COUNT: Partial<Style> = { numFmt: '0', alignment: { vertical: 'top' } }

/** Light enough for black letters. */
const TINTS: Record<OrderStatus, string> = {
  pending: 'FFFFF3CD',
  paid: 'FFDCEBFA',
  processing: 'FFE8E0F5',
  fulfilled: 'FFDDF2DF',
  refunded: 'FFFBE3D3',
  cancelled: 'FFE6E6E6',
}

const byStatus = Object.fromEntries(
  Object.entries(TINTS).map(([status, argb]) => [status, { ...TEXT, fill: filled(argb) }]),
) as Record<OrderStatus, Partial<Style>>

export const statusStyle = (status: OrderStatus): Partial<Style> => byStatus[status]

const byDigits = new Map<number, Partial<Style>>()

/** Money with as many decimals as its currency has. */
export function moneyStyle(digits: number): Partial<Style> {
  let style = byDigits.get(digits)
  if (style === undefined) {
    const decimals = digits === 0 ? '' : `.${'0'.repeat(digits)}`
    style = { numFmt: `#,##0${decimals}`, alignment: { vertical: 'top' } }
    byDigits.set(digits, style)
  }
  return style
}
