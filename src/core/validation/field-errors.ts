import type { ErrorObject } from 'ajv'
import { FORMAT_ERRORS } from './formats.js'

/** An invalid field: its path (`vessel.name`) and a message for people. */
export interface FieldError {
  path: string
  message: string
}

/** Lists allowed values, `null` last. */
function formatChoices(values: readonly unknown[]): string {
  const named = values.filter((value) => value !== null).map(String)
  return [...named, ...(values.includes(null) ? ['or null'] : [])].join(', ')
}

/** A limit in plain digits, as it can be typed. */
const formatLimit = (value: unknown): string =>
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

const MESSAGES: Record<string, (params: Record<string, unknown>) => string> = {
  required: () => 'is required',
  additionalProperties: () => 'is not a known field',
  type: ({ type }) => `must be ${typeNames(type)}`,
  enum: ({ allowedValues }) => `must be one of ${formatChoices(allowedValues as unknown[])}`,
  const: ({ allowedValue }) => `must be ${String(allowedValue)}`,
  exclusiveMinimum: ({ limit }) => `must be greater than ${formatLimit(limit)}`,
  minimum: ({ limit }) => `must be at least ${formatLimit(limit)}`,
  maximum: ({ limit }) => `must be at most ${formatLimit(limit)}`,
  minLength: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${formatLimit(limit)} characters`,
  maxLength: ({ limit }) => `must have at most ${formatLimit(limit)} characters`,
  minItems: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${formatLimit(limit)} values`,
  uniqueItems: () => 'must not contain the same value twice',
  maxItems: ({ limit }) => `must have at most ${formatLimit(limit)} values`,
  minProperties: () => 'must contain at least one field',
  format: ({ format }) => `must be a valid ${String(format)}`,
}

function getPathSegments(error: ErrorObject): string[] {
  const segments = error.instancePath.split('/').slice(1)
  const params = error.params as Record<string, unknown>
  const child = params.missingProperty ?? params.additionalProperty
  if (typeof child === 'string') segments.push(child)
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** The schema's own message, if it has one. */
function getSchemaMessage({ parentSchema }: ErrorObject): string | undefined {
  const message = (parentSchema as Record<string, unknown> | undefined)?.['x-message']
  return typeof message === 'string' ? message : undefined
}

/** The message of the format, or else of the schema; `undefined` if neither has one. */
function getFormatMessage(error: ErrorObject): string | undefined {
  const { params, data } = error
  const message =
    typeof data === 'string' ? FORMAT_ERRORS[String(params.format)]?.(data) : undefined
  return message ?? getSchemaMessage(error)
}

/** The message for a known field that cannot be set. */
function getReadOnlyMessage({ params, parentSchema }: ErrorObject): string | undefined {
  const fixed = (parentSchema as Record<string, unknown> | undefined)?.['x-fixed']
  const { additionalProperty } = params as { additionalProperty?: string }
  return Array.isArray(fixed) && fixed.includes(additionalProperty)
    ? 'cannot be changed'
    : undefined
}

/** A number such as 1e999 becomes Infinity, which exceeds any limit. */
function getInfinityMessage({ data, parentSchema }: ErrorObject): string | undefined {
  if (data !== Infinity && data !== -Infinity) return undefined
  const limits = parentSchema as Record<string, unknown> | undefined
  const name = data > 0 ? 'maximum' : 'minimum'
  return limits?.[name] === undefined ? undefined : MESSAGES[name]?.({ limit: limits[name] })
}

/** More specific messages for some keywords. */
const SPECIFIC_MESSAGES: Record<string, (error: ErrorObject) => string | undefined> = {
  format: getFormatMessage,
  enum: getSchemaMessage,
  type: getInfinityMessage,
  additionalProperties: getReadOnlyMessage,
}

function getMessage(error: ErrorObject): string {
  const formatMessage = MESSAGES[error.keyword]
  const specific = SPECIFIC_MESSAGES[error.keyword]?.(error)
  return (
    specific ??
    formatMessage?.(error.params as Record<string, unknown>) ??
    error.message ??
    'is invalid'
  )
}

/** Keywords whose message replaces an earlier message for the same field. */
const MORE_SPECIFIC: ReadonlySet<string> = new Set(['exclusiveMinimum', 'enum'])

function collectByPath(
  errors: readonly ErrorObject[],
  getPath: (error: ErrorObject) => string,
  message: (error: ErrorObject) => string,
): FieldError[] {
  const byPath = new Map<string, string>()
  for (const error of errors) {
    // `if` only reports that `then` failed, and `then` has errors of its own.
    if (error.keyword === 'if') continue
    const path = getPath(error)
    if (!byPath.has(path) || MORE_SPECIFIC.has(error.keyword)) byPath.set(path, message(error))
  }
  return [...byPath].map(([path, message]) => ({ path, message }))
}

/** Converts Ajv's errors to one entry per invalid field, in order. */
export const toFieldErrors = (errors: readonly ErrorObject[]): FieldError[] =>
  collectByPath(errors, (error) => getPathSegments(error).join('.'), getMessage)

const formatTimes = (count: number): string => (count === 2 ? 'twice' : `${count} times`)

function getRepetitionMessage({ keyword, params }: ErrorObject, count: number): string {
  const { limit } = params as { limit?: number }
  const allowed = keyword === 'maxItems' ? `at most ${limit} times` : 'once'
  return `is given ${formatTimes(count)}; it is allowed ${allowed}`
}

/**
 * Converts Ajv's errors in parameters, such as a query, to one entry per parameter. A repeated
 * parameter is an array.
 */
export const toParameterErrors = (errors: readonly ErrorObject[]): FieldError[] =>
  collectByPath(
    errors,
    (error) => getPathSegments(error)[0] ?? '',
    (error) =>
      Array.isArray(error.data)
        ? getRepetitionMessage(error, error.data.length)
        : getMessage(error),
  )
