import type { Static, TSchema } from '@sinclair/typebox'
import { Ajv, type FuncKeywordDefinition, type Options } from 'ajv'
import { isEmail } from './email-address.js'
import { fieldErrors, type FieldError } from './field-errors.js'
import { isTextLine } from './text-line.js'

/** What a feature's schemas say beyond JSON Schema. */
export interface Vocabulary {
  formats: Record<string, (text: string) => boolean>
  keywords: FuncKeywordDefinition[]
}

/**
 * An Ajv that knows a vocabulary, reports every error, and refuses what a schema does not know
 * instead of dropping it. A schema's `x-message` is what a person is told where its format
 * does not hold.
 */
export function createAjv(vocabulary: Vocabulary, options: Options = {}): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    // Lets an error tell the schema it comes from, and so its message.
    verbose: true,
    useDefaults: true,
    strictTypes: false,
    strictRequired: false,
    ...options,
  })
  ajv.addVocabulary(['x-message'])
  ajv.addFormat('text-line', isTextLine)
  ajv.addFormat('email-address', isEmail)
  for (const [name, test] of Object.entries(vocabulary.formats)) ajv.addFormat(name, test)
  for (const keyword of vocabulary.keywords) ajv.addKeyword(keyword)
  return ajv
}

export type Checked<T> = { ok: true; value: T } | { ok: false; errors: FieldError[] }

/** Makes functions that tell whether a value is of a schema and, if not, everything wrong with it. */
export function checkers(vocabulary: Vocabulary) {
  const ajv = createAjv(vocabulary)
  return <S extends TSchema>(schema: S): ((value: unknown) => Checked<Static<S>>) => {
    const validate = ajv.compile<Static<S>>(schema)
    return (value) =>
      validate(value)
        ? { ok: true, value }
        : { ok: false, errors: fieldErrors(validate.errors ?? []) }
  }
}
