import { tripSchemaExtensions as trips } from '../calculator/validate-calculation.js'
import {
  crossFieldKeyword,
  createValidators,
  type SchemaExtensions,
} from '../core/validation/validator.js'
import { isObject } from '../core/validation/is-object.js'
import { isImportedId } from './order-id.js'
import { isOrderNumber } from './order-number.js'
import { findShareErrors } from './share.js'
import { requireMassOrTrip, validateNewOrder } from './validate-order.js'
import { isDate, isDateTime } from '../core/validation/formats.js'

/** An https URL as it can be shown and linked, without user name and password. */
function isHttpsUrl(text: string): boolean {
  if (!/^https:\/\/[^\s\p{C}]+$/u.test(text)) return false
  const url = URL.parse(text)
  return url !== null && url.username === '' && url.password === ''
}

/** A day starts up to 14 hours earlier than in UTC. */
const MAX_DAY_AHEAD_MS = 14 * 60 * 60 * 1000
/** Allows for clocks that differ. */
const MAX_TIME_AHEAD_MS = 5 * 60 * 1000

/**
 * A date, or a date and time with an offset, that is not in the future.
 *
 * @param now ms since 1970
 */
const isPastDate = (text: string, now: number): boolean =>
  isDate(text)
    ? Date.parse(text) <= now + MAX_DAY_AHEAD_MS
    : isDateTime(text) && Date.parse(text) <= now + MAX_TIME_AHEAD_MS

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
