import { vocabulary as trips } from '../calculator/vocabulary.js'
import { together } from '../validation/together.js'
import { validatorsOf, type Vocabulary } from '../validation/validator.js'
import { newOrderFaults } from './order-changes.js'
import { isImportedId } from './order-id.js'
import { isOrderNumber } from './order-number.js'

/** What the schemas of orders say beyond JSON Schema, trips and vessels included. */
const vocabulary: Vocabulary = {
  formats: { ...trips.formats, 'imported-order-id': isImportedId, 'order-number': isOrderNumber },
  keywords: [
    ...trips.keywords,
    together('x-new-order', (given) => newOrderFaults(given, Date.now())),
  ],
}

/** What checks values against schemas of orders. */
export const validators = validatorsOf(vocabulary)
export const { checker } = validators
