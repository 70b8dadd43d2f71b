import { toAsciiNumerals } from './text.js'

export type ParsedNumber =
  /** `isAmbiguous`: whether the decimal separator of the locale decided how to read the number */
  { ok: true; value: number; isAmbiguous: boolean } | { ok: false; message: string }

interface NumberInputOptions {
  /** The decimal separator that the user means; without it, an ambiguous number is an error */
  decimalSign?: ',' | '.' | undefined
  /**
   * Number of decimals in the suggestions for an ambiguous number. By default, the decimals that
   * were typed, without trailing zeros.
   */
  decimals?: number
  /** Lower-case spellings of the unit, which may precede or follow the number; longer ones first */
  units?: readonly string[]
}

const NOT_A_NUMBER: ParsedNumber = { ok: false, message: 'must be a number' }

const SPACE_OR_APOSTROPHE = /[\s\u00a0\u202f'’]/
const GROUPED_BY_SPACES = /^[+-]?\d{1,3}(?:[\s\u00a0\u202f'’]\d{3})+(?:[.,]\d*)?$/
/** Grouped by thousands, or as in India: `12,34,567`. */
const GROUPED = /^[+-]?(?:\d{1,3}(?:[.,]\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})$/
const AMBIGUOUS = /^([+-]?[1-9]\d{0,2})[.,](\d{3})$/
const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i

function removeUnit(text: string, units: readonly string[]): string {
  const lower = text.toLowerCase()
  for (const unit of units) {
    if (lower.endsWith(unit)) return text.slice(0, -unit.length).trim()
    if (lower.startsWith(unit)) return text.slice(unit.length).trim()
  }
  return text
}

/**
 * Parses a number in any common notation and in the digits of any script: `1234.5`, `1234,5`,
 * `1 234,5`, `1,234.5`, `1.234,5`, `12,34,567`, `١٢٣٤`.
 * A single comma or point that could be a decimal or a thousands separator (`1,234`, `1.234`) is
 * read according to `decimalSign`. Without one, the result is an error that suggests both readings,
 * because guessing wrong changes the result a thousandfold.
 */
export function parseNumber(
  text: string,
  { decimalSign, decimals, units = [] }: NumberInputOptions = {},
): ParsedNumber {
  const visible = toAsciiNumerals(text).replace(/\p{Cf}/gu, '')
  const trimmed = removeUnit(visible.trim(), units)
  if (SPACE_OR_APOSTROPHE.test(trimmed) && !GROUPED_BY_SPACES.test(trimmed)) return NOT_A_NUMBER
  const compact = trimmed.replace(new RegExp(SPACE_OR_APOSTROPHE, 'g'), '')
  const commas = compact.split(',').length - 1
  const points = compact.split('.').length - 1
  let plain = compact
  let isAmbiguous = false
  if (commas > 0 && points > 0) {
    // The last separator is the decimal one; the other groups thousands.
    const [group, decimal] =
      compact.lastIndexOf(',') > compact.lastIndexOf('.') ? ['.', ','] : [',', '.']
    const [whole = '', ...fraction] = compact.split(decimal)
    if (fraction.length > 1 || !GROUPED.test(whole)) return NOT_A_NUMBER
    plain = `${whole.replaceAll(group, '')}.${fraction.join('')}`
  } else if (commas + points === 1) {
    const [, thousands, rest] = AMBIGUOUS.exec(compact) ?? []
    isAmbiguous = thousands !== undefined && rest !== undefined
    if (isAmbiguous && decimalSign === undefined) {
      return { ok: false, message: describeAmbiguity(compact, decimals) }
    }
    const groupsThousands = isAmbiguous && !compact.includes(decimalSign ?? '.')
    plain = compact.replace(/[.,]/, groupsThousands ? '' : '.')
  } else if (commas + points > 1) {
    if (!GROUPED.test(compact)) return NOT_A_NUMBER
    plain = compact.replace(/[.,]/g, '')
  }
  const value = Number(plain)
  return PLAIN.test(plain) && Number.isFinite(value)
    ? { ok: true, value, isAmbiguous }
    : NOT_A_NUMBER
}

function describeAmbiguity(text: string, decimals: number | undefined): string {
  const whole = text.replace(/[.,]/, '')
  const exact = text.replace(',', '.')
  const decimal = formatUnambiguous(
    decimals === undefined ? exact.replace(/0+$/, '') : Number(exact).toFixed(decimals),
  )
  return `${text} could mean ${whole} or ${exact}. Enter ${whole} or ${decimal}.`
}

/** Makes a decimal number unambiguous: three decimals get a fourth, as in `1.2340`. */
export const formatUnambiguous = (digits: string): string =>
  /^[+-]?[1-9]\d{0,2}\.\d{3}$/.test(digits) ? `${digits}0` : digits.replace(/\.$/, '')
