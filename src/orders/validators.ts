import { tripSchemaExtensions as trips } from '../calculator/trip-schemas.js'
import { crossFieldKeyword } from '../core/validation/cross-field-keyword.js'
import { isObject } from '../core/validation/is-object.js'
import { createValidators, type SchemaExtensions } from '../core/validation/validator.js'
import { isImportedId } from './order-id.js'
import { isOrderNumber } from './order-number.js'
import { isHttpsUrl, isPastDate } from './retirement-formats.js'
import { findShareErrors } from './share.js'
import { requireMassOrTrip, validateNewOrder } from './validate-order.js'

/** Formats and keywords for the order schemas, including those for trips and vessels. */
const extensions: SchemaExtensions = {
  formats: {
    ...trips.formats,
    'imported-order-id': isImportedId,
    'order-number': isOrderNumber,
    'https-url': isHttpsUrl,
    'past-date': (text) => isPastDate(text, Date.now()),
  },
  keywords: [
    ...trips.keywords,
    crossFieldKeyword('x-new-order', (order) => validateNewOrder(order, Date.now())),
    crossFieldKeyword('x-co2e-or-trip', requireMassOrTrip),
    crossFieldKeyword('x-share', ({ calculatorData, ...share }) =>
      findShareErrors(share, isObject(calculatorData) ? calculatorData.guests : undefined),
    ),
  ],
}

export const validators = createValidators(extensions)
export const { checker } = validators
