import type { Static, TSchema } from '@sinclair/typebox'
import { Ajv, type FuncKeywordDefinition, type Options, type ValidateFunction } from 'ajv'
import { lazy } from '../lazy.js'
import { toFieldErrors, type FieldError } from './field-errors.js'
import { FORMATS } from './formats.js'

/** What a feature's schemas say beyond JSON Schema. */
export interface SchemaExtensions {
  formats: Record<string, (text: string) => boolean>
  keywords: FuncKeywordDefinition[]
}

/**
 * An Ajv that knows a vocabulary, reports every error, and refuses what a schema does not know
 * instead of dropping it. A schema's `x-message` is what a person is told where its format or
 * enum does not hold, and `x-fixed` names fields that are known, but not to be given.
 */
export function createAjv(vocabulary: SchemaExtensions, options: Options = {}): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    // Lets an error tell the schema it comes from, and so its message.
    verbose: true,
    useDefaults: true,
    // Schemas are TypeBox's, so they are valid: checking that takes a tenth of a start.
    validateSchema: false,
    strictTypes: false,
    strictRequired: false,
    ...options,
  })
  ajv.addVocabulary(['x-message', 'x-fixed'])
  for (const [name, test] of Object.entries({ ...FORMATS, ...vocabulary.formats })) {
    ajv.addFormat(name, test)
  }
  for (const keyword of vocabulary.keywords) ajv.addKeyword(keyword)
  return ajv
}

export type ValidationResult<T> = { ok: true; value: T } | { ok: false; errors: FieldError[] }

/**
 * What checks values against schemas in a vocabulary. A schema is compiled when it is first asked
 * for: all of them together take a fifth of a start.
 */
export function createValidators(vocabulary: SchemaExtensions) {
  const strictly = lazy(() => createAjv(vocabulary))
  const converting = lazy(() => createAjv(vocabulary, { coerceTypes: 'array' }))

  function compiledBy<T>(ajv: () => Ajv, schema: object): ValidateFunction<T> {
    const compiled = lazy(() => ajv().compile<T>(schema))
    const validate = ((value: unknown) => {
      const check = compiled()
      const isValid = check(value)
      validate.errors = check.errors ?? null
      return isValid
    }) as ValidateFunction<T>
    return validate
  }

  /** Checks values as they are. */
  const strict = <T>(schema: object): ValidateFunction<T> => compiledBy(strictly, schema)

  /**
   * Checks what came as text by name, such as a query, and converts it; one value is a list of one
   * there.
   */
  function converter<T>(schema: object): ValidateFunction<T> {
    const convert = compiledBy<T>(converting, schema)
    const check = strict<T>(schema)
    // Ajv does not look at what it has converted: 1e400 would pass as infinity, whatever the limits.
    const validate = ((value: unknown) => {
      const isValid = convert(value) && check(value)
      validate.errors = convert.errors ?? check.errors ?? null
      return isValid
    }) as ValidateFunction<T>
    return validate
  }

  /** Makes a function that tells whether a value is of a schema and, if not, everything wrong with it. */
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

/** Checks against schemas that need no words of a feature. */
export const { checker } = createValidators({ formats: {}, keywords: [] })
