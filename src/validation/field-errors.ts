import type { ErrorObject } from 'ajv'
import { FORMAT_ERRORS } from './formats.js'

/** One wrong field: where it is (`vessel.name`) and what is wrong, in words a person understands. */
export interface FieldError {
  path: string
  message: string
}

/** Values to choose from; that there may be none stands last. */
function choices(values: readonly unknown[]): string {
  const named = values.filter((value) => value !== null).map(String)
  return [...named, ...(values.includes(null) ? ['or null'] : [])].join(', ')
}

/** A limit in plain digits, as it may be written into a field or a file. */
const number = (value: unknown): string =>
  Number(value).toLocaleString('en', { maximumFractionDigits: 20, useGrouping: false })

const TYPES: Record<string, string> = {
  object: 'an object',
  array: 'a list',
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  null: 'null',
}

const typeNames = (types: unknown): string =>
  [types]
    .flat()
    .map((type) => TYPES[String(type)] ?? String(type))
    .join(' or ')

const WORDS: Record<string, (params: Record<string, unknown>) => string> = {
  required: () => 'is required',
  additionalProperties: () => 'is not a known field',
  type: ({ type }) => `must be ${typeNames(type)}`,
  enum: ({ allowedValues }) => `must be one of ${choices(allowedValues as unknown[])}`,
  const: ({ allowedValue }) => `must be ${String(allowedValue)}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${number(limit)}`,
  minimum: ({ limit }) => `must be at least ${number(limit)}`,
  maximum: ({ limit }) => `must be at most ${number(limit)}`,
  minLength: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${number(limit)} characters`,
  maxLength: ({ limit }) => `must have at most ${number(limit)} characters`,
  maxItems: ({ limit }) => `must have at most ${number(limit)} values`,
  format: ({ format }) => `must be a valid ${String(format)}`,
}

function stepsTo(error: ErrorObject): string[] {
  const steps = error.instancePath.split('/').slice(1)
  const params = error.params as Record<string, unknown>
  const child = params.missingProperty ?? params.additionalProperty
  if (typeof child === 'string') steps.push(child)
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** What a schema itself says of values that it does not take; `undefined` where it says nothing. */
function said({ parentSchema }: ErrorObject): string | undefined {
  const message = (parentSchema as Record<string, unknown> | undefined)?.['x-message']
  return typeof message === 'string' ? message : undefined
}

/** What a format says of a value that is not of it; `undefined` where it says nothing. */
function formatFault(error: ErrorObject): string | undefined {
  const { params, data } = error
  const fault = typeof data === 'string' ? FORMAT_ERRORS[String(params.format)]?.(data) : undefined
  return fault ?? said(error)
}

/** That a field is known, though not to be given here; `undefined` where it is not known. */
function fixedFault({ params, parentSchema }: ErrorObject): string | undefined {
  const fixed = (parentSchema as Record<string, unknown> | undefined)?.['x-fixed']
  const { additionalProperty } = params as { additionalProperty?: string }
  return Array.isArray(fixed) && fixed.includes(additionalProperty)
    ? 'cannot be changed'
    : undefined
}

/** A number such as 1e999 is beyond what numbers can be, so beyond any limit. */
function boundlessFault({ data, parentSchema }: ErrorObject): string | undefined {
  if (data !== Infinity && data !== -Infinity) return undefined
  const limits = parentSchema as Record<string, unknown> | undefined
  const name = data > 0 ? 'maximum' : 'minimum'
  return limits?.[name] === undefined ? undefined : WORDS[name]?.({ limit: limits[name] })
}

/** Where there is more to say than the keyword's words */
const FAULTS: Record<string, (error: ErrorObject) => string | undefined> = {
  format: formatFault,
  enum: said,
  type: boundlessFault,
  additionalProperties: fixedFault,
}

function messageOf(error: ErrorObject): string {
  const words = WORDS[error.keyword]
  const fault = FAULTS[error.keyword]?.(error)
  return fault ?? words?.(error.params as Record<string, unknown>) ?? error.message ?? 'is invalid'
}

/** Keywords that say more than what was found before: a number above zero, one of some texts. */
const SAYS_MORE: ReadonlySet<string> = new Set(['exclusiveMinimum', 'enum'])

function collected(
  errors: readonly ErrorObject[],
  pathOf: (error: ErrorObject) => string,
  message: (error: ErrorObject) => string,
): FieldError[] {
  const byPath = new Map<string, string>()
  for (const error of errors) {
    // `if` only says that `then` failed, whose own errors stand beside it.
    if (error.keyword === 'if') continue
    const path = pathOf(error)
    if (!byPath.has(path) || SAYS_MORE.has(error.keyword)) byPath.set(path, message(error))
  }
  return [...byPath].map(([path, message]) => ({ path, message }))
}

/** Ajv's errors as one entry for each wrong field, in the order found. */
export const toFieldErrors = (errors: readonly ErrorObject[]): FieldError[] =>
  collected(errors, (error) => stepsTo(error).join('.'), messageOf)

const times = (count: number): string => (count === 2 ? 'twice' : `${count} times`)

/** What is wrong with a name that was given so many times. */
function tooOften({ keyword, params }: ErrorObject, given: number): string {
  const { limit } = params as { limit?: number }
  const most = keyword === 'maxItems' ? `at most ${limit} times` : 'once'
  return `was given ${times(given)}: give it ${most}`
}

/**
 * Ajv's errors of what came as text by name, such as a query, as one entry for each wrong name. A
 * name that was given more than once is a list by then.
 */
export const toParameterErrors = (errors: readonly ErrorObject[]): FieldError[] =>
  collected(
    errors,
    (error) => stepsTo(error)[0] ?? '',
    (error) => (Array.isArray(error.data) ? tooOften(error, error.data.length) : messageOf(error)),
  )
