import { UNUSUAL_MINOR_UNITS, USUAL_DECIMALS } from '../../core/formatting/number-formatter.js'
import { join } from './conditions.js'
import type { Dialect, SqlFragment } from './dialect.js'
import { toOrderNumberKey } from './search-text.js'

/**
 * An order matches if its search text contains `text`, or if its order number or amount meets the
 * condition `exact`.
 */
export interface SearchWord {
  text: string
  exact: SqlFragment | null
}

/** CW3999 and CW-3999 are short for CW-003999. */
function toOrderNumberCondition(word: string): SqlFragment | null {
  const [, prefix, number] = /^(\p{L}+)-?(\d{1,12})$/u.exec(word) ?? []
  if (prefix === undefined || number === undefined) return null
  return { sql: 'order_number_key = ?', values: [toOrderNumberKey(`${prefix}-${number}`)] }
}

const createAmountPattern = (decimals: number): RegExp =>
  new RegExp(
    `^(?:0|[1-9]\\d*|[1-9]\\d{0,2}(?:[.,]\\d{2,3})*[.,]\\d{3})${decimals === 0 ? '' : `[.,]\\d{${decimals}}`}$`,
  )

const USUAL_AMOUNT = createAmountPattern(USUAL_DECIMALS)
const UNUSUAL_AMOUNTS = UNUSUAL_MINOR_UNITS.map(({ decimals, currencies }) => ({
  pattern: createAmountPattern(decimals),
  currencies,
}))

/** 144.63 can be an amount in euros, 14463 in yen, and 14,463 in yen or dinars. */
function toAmountCondition(word: string): SqlFragment | null {
  const isUsual = USUAL_AMOUNT.test(word)
  const currencies = UNUSUAL_AMOUNTS.filter(({ pattern }) => isUsual || pattern.test(word)).flatMap(
    (unusual) => unusual.currencies,
  )
  const amountMinor = Number(word.replace(/\D/g, ''))
  // PostgreSQL rejects integers of more than 64 bits.
  if (currencies.length === 0 || !Number.isSafeInteger(amountMinor)) return null
  // The currencies in use, so that each is looked up in the index of amounts.
  const list = currencies.map(() => '?').join(', ')
  return {
    sql: `amount_minor = ? AND currency IN (
      SELECT DISTINCT currency FROM order_totals WHERE currency ${isUsual ? 'NOT IN' : 'IN'} (${list})
    )`,
    values: [amountMinor, ...currencies],
  }
}

export const toWord = (text: string): SearchWord => ({
  text,
  exact: toOrderNumberCondition(text) ?? toAmountCondition(text),
})

const matchesWord = (dialect: Dialect, { text, exact }: SearchWord): SqlFragment => {
  const containsText = { sql: dialect.containsText, values: [text] }
  return exact === null ? containsText : join([containsText, exact], 'OR')
}

/** A condition on an order and its text: it matches every word. */
export const matchesWords = (dialect: Dialect, words: readonly SearchWord[]): SqlFragment =>
  join(
    words.map((word) => matchesWord(dialect, word)),
    'AND',
  )
