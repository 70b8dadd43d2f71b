import type { ErrorObject } from 'ajv'

/** One wrong field: where it is (`vessel.name`) and what is wrong, in words a person understands. */
export interface FieldError {
  path: string
  message: string
}

const list = (values: unknown): string =>
  Array.isArray(values) ? values.map(String).join(', ') : String(values)

const number = (value: unknown): string =>
  Number(value).toLocaleString('en', { maximumFractionDigits: 20 })

const TYPES: Record<string, string> = {
  object: 'an object',
  array: 'a list',
  integer: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
}

const WORDS: Record<string, (params: Record<string, unknown>) => string> = {
  required: () => 'is required',
  additionalProperties: () => 'is not a known field',
  type: ({ type }) => `must be ${TYPES[String(type)] ?? list(type)}`,
  enum: ({ allowedValues }) => `must be one of ${list(allowedValues)}`,
  const: ({ allowedValue }) => `must be ${String(allowedValue)}`,
  exclusiveMinimum: ({ limit }) => `must be more than ${number(limit)}`,
  minimum: ({ limit }) => `must be at least ${number(limit)}`,
  maximum: ({ limit }) => `must be at most ${number(limit)}`,
  minLength: ({ limit }) =>
    limit === 1 ? 'must not be empty' : `must have at least ${number(limit)} characters`,
  maxLength: ({ limit }) => `must have at most ${number(limit)} characters`,
  format: ({ format }) => `must be a valid ${String(format)}`,
}

function pathOf(error: ErrorObject): string {
  const steps = error.instancePath.split('/').slice(1)
  const params = error.params as Record<string, unknown>
  const child = params.missingProperty ?? params.additionalProperty
  if (typeof child === 'string') steps.push(child)
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')).join('.')
}

/** Ajv's errors as one entry for each wrong field, in the order found. */
export function fieldErrors(errors: readonly ErrorObject[]): FieldError[] {
  const byPath = new Map<string, string>()
  for (const error of errors) {
    // `if` only says that `then` failed, whose own errors stand beside it.
    if (error.keyword === 'if') continue
    const path = pathOf(error)
    // Where a number is not above zero, that says it all.
    if (byPath.has(path) && error.keyword !== 'exclusiveMinimum') continue
    const said = (error.parentSchema as Record<string, unknown> | undefined)?.['x-message']
    const words =
      error.keyword === 'format' && typeof said === 'string' ? () => said : WORDS[error.keyword]
    byPath.set(
      path,
      words?.(error.params as Record<string, unknown>) ?? error.message ?? 'is invalid',
    )
  }
  return [...byPath].map(([path, message]) => ({ path, message }))
}
