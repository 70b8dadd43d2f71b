import { vocabulary as trips } from '../calculator/vocabulary.js'
import { checkers, type Vocabulary } from '../validation/validator.js'
import { isImportedId } from './order-id.js'
import { isOrderNumber } from './order-number.js'

/** What the schemas of orders say beyond JSON Schema, trips and vessels included. */
export const vocabulary: Vocabulary = {
  ...trips,
  formats: { ...trips.formats, 'imported-order-id': isImportedId, 'order-number': isOrderNumber },
}

/** Makes a function that checks values against a schema of orders. */
export const checker = checkers(vocabulary)
