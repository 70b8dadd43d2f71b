import { vocabulary as trips } from '../calculator/vocabulary.js'
import { checkers, type Vocabulary } from '../validation/validator.js'
import { parseOrderId } from './order-id.js'

/** What the schemas of orders say beyond JSON Schema, trips and vessels included. */
export const vocabulary: Vocabulary = {
  ...trips,
  formats: { ...trips.formats, 'order-id': (id) => parseOrderId(id) !== null },
}

/** Makes a function that checks values against a schema of orders. */
export const checker = checkers(vocabulary)
