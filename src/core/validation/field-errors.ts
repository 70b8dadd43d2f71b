import type { Static, TSchema } from '@sinclair/typebox'
import {
  Ajv,
  type ErrorObject,
  type FuncKeywordDefinition,
  type Options,
  type SchemaValidateFunction,
  type ValidateFunction,
} from 'ajv'
import { FORMAT_ERRORS, FORMATS } from './formats.js'
import { removeInvisibleKeyword } from './text-rules.js'

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

/** Formats and keywords that a feature adds to JSON Schema. */
export interface SchemaExtensions {
  formats: Record<string, (text: string) => boolean>
  keywords: FuncKeywordDefinition[]
}

/**
 * Creates an Ajv instance that reports every error and rejects unknown fields instead of dropping
 * them. A schema's `x-message` replaces the message of its format or enum; `x-fixed` lists known
 * fields that cannot be set; `x-remove-invisible` removes invisible characters.
 */
export function createAjv({ formats, keywords }: SchemaExtensions, options: Options = {}): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    // Optimising the generated code takes longer than it saves.
    code: { optimize: false },
    // Adds the schema to errors, for its `x-message`.
    verbose: true,
    useDefaults: true,
    // TypeBox schemas need no validation.
    validateSchema: false,
    strictTypes: false,
    strictRequired: false,
    ...options,
  })
  ajv.addVocabulary(['x-message', 'x-fixed'])
  for (const [name, isValid] of Object.entries({ ...FORMATS, ...formats })) {
    ajv.addFormat(name, isValid)
  }
  for (const keyword of [removeInvisibleKeyword, ...keywords]) ajv.addKeyword(keyword)
  return ajv
}

/** Compiles a schema when it validates its first value, so that the service starts sooner. */
function compileLater<T>(ajv: Ajv, schema: object): ValidateFunction<T> {
  let compiled: ValidateFunction<T> | undefined
  const validate = ((value: unknown) => {
    compiled ??= ajv.compile<T>(schema)
    const isValid = compiled(value)
    validate.errors = compiled.errors ?? null
    return isValid
  }) as ValidateFunction<T>
  return validate
}

export type ValidationResult<T> = { ok: true; value: T } | { ok: false; errors: FieldError[] }

/** Creates the functions that compile schemas with a feature's extensions. */
export function createValidators(extensions: SchemaExtensions) {
  const strictAjv = createAjv(extensions)
  const coercingAjv = createAjv(extensions, { coerceTypes: 'array' })

  /** Validates values without converting them. */
  const strict = <T>(schema: object): ValidateFunction<T> => compileLater<T>(strictAjv, schema)

  /** Converts and validates parameters that arrive as text, such as a query. */
  function converter<T>(schema: object): ValidateFunction<T> {
    const convert = compileLater<T>(coercingAjv, schema)
    const check = strict<T>(schema)
    // Ajv does not check converted values, so 1e400 would pass as Infinity.
    const validate = ((value: unknown) => {
      const isValid = convert(value) && check(value)
      validate.errors = convert.errors ?? check.errors ?? null
      return isValid
    }) as ValidateFunction<T>
    return validate
  }

  /** Returns a function that validates a value and lists every error. */
  function checker<S extends TSchema>(schema: S): (value: unknown) => ValidationResult<Static<S>> {
    const validate = strict<Static<S>>(schema)
    return (value) =>
      validate(value)
        ? { ok: true, value }
        : { ok: false, errors: toFieldErrors(validate.errors ?? []) }
  }

  return { strict, converter, checker }
}

export type Validators = ReturnType<typeof createValidators>

/** Compiles schemas that need no extensions. */
export const { checker } = createValidators({ formats: {}, keywords: [] })

/**
 * Ajv keyword for rules that involve more than one field of an object.
 *
 * @param findErrors also runs if individual fields are invalid; paths are relative to the object
 */
export function crossFieldKeyword(
  keyword: string,
  findErrors: (value: Record<string, unknown>) => FieldError[],
): FuncKeywordDefinition {
  const validate: SchemaValidateFunction = (
    _schema: unknown,
    value: Record<string, unknown>,
    _parent,
    context,
  ) => {
    const found = findErrors(value)
    validate.errors = found.map(({ path, message }) => ({
      keyword,
      instancePath: `${context?.instancePath ?? ''}/${path}`,
      message,
      params: {},
    }))
    return found.length === 0
  }
  return { keyword, type: 'object', validate, errors: true }
}
