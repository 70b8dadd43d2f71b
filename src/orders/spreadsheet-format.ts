import type { Order } from './order.js'

/** The columns about the payment of an order, after the columns of the order. */
export const PAYMENT_COLUMNS = [
  'paymentMethod',
  'paymentStatus',
  'paymentAmountMinor',
  'paymentCurrency',
  'paymentRefundedMinor',
  'paymentDispute',
  'paymentProblem',
  'paymentSessionId',
  'paymentIntentId',
] as const

/** The columns about the recorded calculation of an order, after all others; gases in kg. */
export const CALCULATION_COLUMNS = [
  'framework',
  'co2Kg',
  'ch4Kg',
  'n2oKg',
  'biogenicCo2Kg',
] as const

/** Orders without a calculation, and calculations of earlier versions, have no values. */
export const getCalculationValues = (calculation: Order['calculation']) => ({
  framework: calculation?.framework ?? null,
  co2Kg: calculation?.gases?.co2Kg ?? null,
  ch4Kg: calculation?.gases?.ch4Kg ?? null,
  n2oKg: calculation?.gases?.n2oKg ?? null,
  biogenicCo2Kg: calculation?.gases?.biogenicCo2Kg ?? null,
})

/** Maximum length of a cell, in UTF-16 code units. */
const MAX_CELL_LENGTH = 32_767
const ELLIPSIS = '…'

// Control characters except tab and LF, and the surrogates and noncharacters that XML 1.0 does not
// allow. With the flag `u`, `\p{Cs}` matches only unpaired surrogates.
const INVALID_IN_XML = /(?![\t\n])[\p{Cc}\p{Cs}\ufffe\uffff]/gu
/** Excel decodes `_x0041_` as a character, so the underscore in such text must be escaped. */
const ESCAPE_SEQUENCE = /_(?=x[0-9a-f]{4}_)/gi

function truncate(text: string): string {
  if (text.length <= MAX_CELL_LENGTH) return text
  const end = MAX_CELL_LENGTH - ELLIPSIS.length
  const isPairSplit = /[\ud800-\udbff]/.test(text.charAt(end - 1))
  return text.slice(0, isPairSplit ? end - 1 : end) + ELLIPSIS
}

/** Converts text for an Excel cell: LF line breaks, no invalid characters, limited length. */
export const toExcelText = (text: string): string =>
  truncate(text.replace(/\r\n?/g, '\n').replace(INVALID_IN_XML, '')).replace(
    ESCAPE_SEQUENCE,
    '_x005F_',
  )

/** Reverses the escaping of `toExcelText`. */
export const fromExcelText = (text: string): string =>
  text.replace(/_x005F_(?=x[0-9a-f]{4}_)/gi, '_')
