import { Type, type Static, type TSchema } from '@sinclair/typebox'
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

/** Schema for one of several strings; reports one error, not one per literal as a union does. */
export const stringEnum = <T extends string>(values: readonly T[], options: object = {}) =>
  Type.Unsafe<T>({ type: 'string', enum: [...values], ...options })

/** Schema that also accepts `null`. */
export const nullable = <S extends TSchema>(schema: S) =>
  Type.Unsafe<Static<S> | null>({
    ...schema,
    type: [schema.type as string, 'null'],
    ...(Array.isArray(schema.enum) ? { enum: [...(schema.enum as unknown[]), null] } : {}),
  })

/** Whether a value is a JSON object: not an array, not `null`. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Looks a name from outside up in a record; `undefined` if the record has no such entry. Indexing
 * would also find properties that every object has, such as `constructor`.
 */
export const getOwn = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined

/** Parses JSON from outside; `undefined` if it is invalid. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
