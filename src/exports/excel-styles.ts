import type { Fill, Style } from 'exceljs'
import type { OrderStatus } from '../orders/order-status.js'

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
