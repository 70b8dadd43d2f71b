import type { FuncKeywordDefinition, SchemaValidateFunction } from 'ajv'
import type { FieldError } from './field-errors.js'

/**
 * A keyword for an object whose fields may each be fine and yet not go together.
 *
 * @param faultsOf runs beside the fields' own rules, so it may be handed values that those refuse;
 * its paths are within the object
 */
export function crossFieldKeyword(
  keyword: string,
  faultsOf: (given: Record<string, unknown>) => FieldError[],
): FuncKeywordDefinition {
  const validate: SchemaValidateFunction = (
    _on: unknown,
    given: Record<string, unknown>,
    _parent,
    at,
  ) => {
    const found = faultsOf(given)
    validate.errors = found.map(({ path, message }) => ({
      keyword,
      instancePath: `${at?.instancePath ?? ''}/${path}`,
      message,
      params: {},
    }))
    return found.length === 0
  }
  return { keyword, type: 'object', validate, errors: true }
}
