import { isEmail, isInternetEmail } from './email-address.js'
import { findTextError, findTextLineError, isTextLine } from './text-rules.js'

/** ISO 4217 currency codes. */
export const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

export const isCurrency = (code: string): boolean => CURRENCIES.has(code)

/** Supported years: 1900 to 2199. */
const YEARS = /^(?:19|20|21)\d{2}-/
const DATE = /^\d{4}-\d{2}-\d{2}$/

/** A Gregorian date such as 2026-11-20. */
export function isDate(text: string): boolean {
  if (!DATE.test(text) || !YEARS.test(text)) return false
  const milliseconds = Date.parse(`${text}T00:00:00Z`)
  // Date.parse reads 30 February as a day in March.
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(text)
}

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/

/** An ISO 8601 date and time with an offset. Its year must be supported as written and in UTC. */
export function isDateTime(text: string): boolean {
  if (!isDate(DATE_TIME.exec(text)?.[1] ?? '')) return false
  const milliseconds = Date.parse(text)
  return !Number.isNaN(milliseconds) && YEARS.test(new Date(milliseconds).toISOString())
}

/** Formats with specific error messages; `null` if the text is valid. */
export const FORMAT_ERRORS: Record<string, (text: string) => string | null> = {
  'text-line': findTextLineError,
  text: findTextError,
}

/** Values of `format` that every schema can use. */
export const FORMATS: Record<string, (text: string) => boolean> = {
  'text-line': isTextLine,
  text: (text) => findTextError(text) === null,
  'email-address': isInternetEmail,
  // For addresses that exist already: of accounts, and of orders from before the stricter rule.
  'known-email-address': isEmail,
  currency: isCurrency,
  date: isDate,
  'date-time': isDateTime,
}
