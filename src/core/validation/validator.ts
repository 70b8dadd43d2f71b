import type { Static, TSchema } from '@sinclair/typebox'
import {
  Ajv,
  type FuncKeywordDefinition,
  type Options,
  type SchemaValidateFunction,
  type ValidateFunction,
} from 'ajv'
import { toFieldErrors, type FieldError } from './field-errors.js'
import { FORMATS } from './formats.js'
import { removeInvisibleKeyword } from './invisible-characters.js'

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
