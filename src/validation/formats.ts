import { isEmail } from './email-address.js'
import { isTextLine } from './text-line.js'

// The controls that a text of several lines may have are tab and line break.
const FORBIDDEN = /(?![\t\n\r])[\p{Cc}\u202a-\u202e\u2066-\u2069]|\p{Cs}/u

/** Text of any number of lines: no control characters but tab and line break, well-formed Unicode. */
const isText = (text: string): boolean => !FORBIDDEN.test(text)

const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'))

/** Of years that orders have: the first and last ones of the calendar have no day before or after. */
const DATE = /^(?:19|20|21)\d{2}-\d{2}-\d{2}$/

/** A day of the Gregorian calendar, written 2026-11-20, from 1900 to 2199. */
function isDate(text: string): boolean {
  if (!DATE.test(text)) return false
  const milliseconds = Date.parse(`${text}T00:00:00Z`)
  // 30 February would be read as one of March.
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(text)
}

const DATE_TIME = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/

/** A moment in ISO 8601 with its offset from UTC. */
const isDateTime = (text: string): boolean =>
  isDate(DATE_TIME.exec(text)?.[1] ?? '') && !Number.isNaN(Date.parse(text))

/** What schemas of any feature may name as `format`. */
export const FORMATS: Record<string, (text: string) => boolean> = {
  'text-line': isTextLine,
  text: isText,
  'email-address': isEmail,
  currency: (text) => CURRENCIES.has(text),
  date: isDate,
  'date-time': isDateTime,
}
