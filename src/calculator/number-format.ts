import { lazy } from '../lazy.js'
import { formatWithUnit, toMassUnit, type MassUnit } from './units.js'

const NARROW_NO_BREAK_SPACE = '\u202f'

// Making a formatter costs a hundred times what using one does.
const formatter = (options: Intl.NumberFormatOptions) => {
  const english = lazy(() => new Intl.NumberFormat('en', options))
  return (value: number): string => english().format(value).replaceAll(',', NARROW_NO_BREAK_SPACE)
}

const whole = formatter({ maximumFractionDigits: 0 })
const fourDigits = formatter({ maximumSignificantDigits: 4 })

/**
 * A number with two decimals, for people of any country: digits in groups of three, parted by
 * thin spaces, and a decimal point (SI Brochure, 5.4.4), since `3,306` is three thousand to one
 * reader and three to another.
 */
export const formatHundredths = formatter({ minimumFractionDigits: 2, maximumFractionDigits: 2 })

/** A number with as many digits as matter to a reader: four or so, no trailing zeros. */
export const formatSignificant = (value: number): string =>
  value >= 1000 ? whole(value) : fourDigits(value)

/** A number as exact as it was given, for factors and entered values. */
export const formatExact = formatter({ maximumFractionDigits: 20 })

const NO_BREAK_SPACE = '\u00a0'

/** A number and its unit, kept on one line. */
export const withUnit = (value: string, unit: string): string => value + NO_BREAK_SPACE + unit

/** A mass in the unit that reads best. */
export function formatMass(kilograms: number): { value: string; unit: MassUnit } {
  const unit = toMassUnit(kilograms)
  return { value: formatSignificant(formatWithUnit(kilograms, unit)), unit }
}

const byDecimals = [0, 1, 2, 3, 4, 5, 6].map((decimals) =>
  formatter({ minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
)

/** Formats the parts of a sum alike: as many decimals as give the sum four digits. */
export function createColumnFormatter(sum: number): (part: number) => string {
  const decimals = Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(sum))))
  return byDecimals[decimals] ?? formatSignificant
}

export type ParsedNumber = { ok: true; value: number } | { ok: false; message: string }

const SPACED = /[\s\u00a0\u202f'’]/
const GROUPED_BY_SPACES = /^[+-]?\d{1,3}(?:[\s\u00a0\u202f'’]\d{3})+(?:[.,]\d*)?$/

const PLAIN = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i

/**
 * Reads a number as people type it: `1234.5`, `1234,5`, `1 234,5`, `1,234.5`, `1.234,5`.
 * Where one comma or point could be either (`1,234`, `1.234`), it asks instead of guessing: a
 * guest who means a thousand must not be told of one. What it proposes then has as many decimals
 * as the field takes, where `decimals` says how many.
 */
export function parseNumber(text: string, decimals?: number): ParsedNumber {
  const trimmed = text.trim()
  if (SPACED.test(trimmed) && !GROUPED_BY_SPACES.test(trimmed)) return notANumber
  const compact = trimmed.replace(new RegExp(SPACED, 'g'), '')
  const commas = compact.split(',').length - 1
  const points = compact.split('.').length - 1
  let plain = compact
  if (commas > 0 && points > 0) {
    // The separator that comes last is the decimal one, the other groups by threes.
    const [group, decimal] =
      compact.lastIndexOf(',') > compact.lastIndexOf('.') ? ['.', ','] : [',', '.']
    const [whole = '', ...fraction] = compact.split(decimal)
    if (fraction.length > 1 || !isGrouped(whole, group)) return notANumber
    plain = `${whole.replaceAll(group, '')}.${fraction.join('')}`
  } else if (commas + points === 1) {
    const [, thousands, rest] = /^([+-]?[1-9]\d{0,2})[.,](\d{3})$/.exec(compact) ?? []
    if (thousands !== undefined && rest !== undefined) {
      const exact = `${thousands}.${rest}`
      const decimal = formatUnambiguous(
        decimals === undefined ? exact.replace(/0+$/, '') : Number(exact).toFixed(decimals),
      )
      return {
        ok: false,
        message: `could be read in two ways: write ${thousands}${rest} or ${decimal}`,
      }
    }
    plain = compact.replace(',', '.')
  } else if (commas > 1 || points > 1) {
    const group = commas > 1 ? ',' : '.'
    if (!isGrouped(compact, group)) return notANumber
    plain = compact.replaceAll(group, '')
  }
  const value = Number(plain)
  return PLAIN.test(plain) && Number.isFinite(value) ? { ok: true, value } : notANumber
}

/** A decimal number that cannot be taken for a grouped one: three decimals get a fourth. */
export const formatUnambiguous = (digits: string): string =>
  /^[+-]?[1-9]\d{0,2}\.\d{3}$/.test(digits) ? `${digits}0` : digits.replace(/\.$/, '')

const notANumber: ParsedNumber = { ok: false, message: 'must be a number' }

const isGrouped = (digits: string, separator: string): boolean => {
  const [first = '', ...rest] = digits.split(separator)
  return /^[+-]?\d{1,3}$/.test(first) && rest.every((group) => /^\d{3}$/.test(group))
}
