import type { FuncKeywordDefinition, SchemaValidateFunction } from 'ajv'
import type { FieldError } from './field-errors.js'

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
