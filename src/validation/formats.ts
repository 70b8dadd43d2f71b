import { isEmail } from './email-address.js'
import { isTextLine } from './text-line.js'
import { findTextError, findTextLineError } from './text-rules.js'

/** The codes of ISO 4217 that an amount may be in. */
export const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

export const isCurrency = (code: string): boolean => CURRENCIES.has(code)

/** Years that orders have: the first and last ones of the calendar have no day before or after. */
const YEARS = /^(?:19|20|21)\d{2}-/
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** A day of the Gregorian calendar, written 2026-11-20, from 1900 to 2199. */
function isDate(text: string): boolean {
  if (!DATE.test(text) || !YEARS.test(text)) return false
  const milliseconds = Date.parse(`${text}T00:00:00Z`)
  // 30 February would be read as one of March.
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(text)
}

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/

/** A moment in ISO 8601 with its offset from UTC, from 1900 to 2199 both as written and in UTC. */
export function isDateTime(text: string): boolean {
  if (!isDate(DATE_TIME.exec(text)?.[1] ?? '')) return false
  const milliseconds = Date.parse(text)
  return !Number.isNaN(milliseconds) && YEARS.test(new Date(milliseconds).toISOString())
}

/** Formats that tell what is wrong with a text, in words for a person; `null` for nothing. */
export const FORMAT_ERRORS: Record<string, (text: string) => string | null> = {
  'text-line': findTextLineError,
  text: findTextError,
}

/** What schemas of any feature may name as `format`. */
export const FORMATS: Record<string, (text: string) => boolean> = {
  'text-line': isTextLine,
  text: (text) => findTextError(text) === null,
  'email-address': isEmail,
  currency: isCurrency,
  date: isDate,
  'date-time': isDateTime,
}
