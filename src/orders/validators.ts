import { tripSchemaExtensions as trips } from '../calculator/trip-schemas.js'
import { crossFieldKeyword } from '../validation/cross-field-keyword.js'
import { createValidators, type SchemaExtensions } from '../validation/validator.js'
import { validateNewOrder } from './apply-changes.js'
import { isImportedId } from './order-id.js'
import { isOrderNumber } from './order-number.js'

/** What the schemas of orders say beyond JSON Schema, trips and vessels included. */
const vocabulary: SchemaExtensions = {
  formats: { ...trips.formats, 'imported-order-id': isImportedId, 'order-number': isOrderNumber },
  keywords: [
    ...trips.keywords,
    crossFieldKeyword('x-new-order', (given) => validateNewOrder(given, Date.now())),
  ],
}

/** What checks values against schemas of orders. */
export const validators = createValidators(vocabulary)
export const { checker } = validators
