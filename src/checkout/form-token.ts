import { randomBytes } from 'node:crypto'
import type { Signer } from '../core/config/signer.js'
import { hashTrip, type OrderedTrip } from './ordered-trip.js'

const ID_BYTES = 16
const FORMAT = /^([\w-]{22})\.([0-9a-z]{1,12})\.([\w-]{22})$/

/** Must be less than IDEMPOTENCY_KEY_TTL_MS. */
const VALID_MS = 24 * 60 * 60 * 1000

export const createFormId = (): string => randomBytes(ID_BYTES).toString('base64url')

/** Whether a string has the format of a form's ID. */
export const isFormId = (text: string | undefined): text is string => /^[\w-]{22}$/.test(text ?? '')

/**
 * Signs the hidden field that limits an order form to one order, for one trip. The tokens are valid
 * for a day.
 */
export function createFormTokens(signer: Signer) {
  const toText = (id: string, time: string, trip: OrderedTrip): string =>
    [id, time, hashTrip(trip)].join('\n')
  return {
    /** Creates the token for the form with the given ID. */
    create(id: string, trip: OrderedTrip): string {
      const time = Date.now().toString(36)
      return `${id}.${time}.${signer.sign(toText(id, time, trip))}`
    },
    /** Returns the ID in a token; `null` if it is not valid for this trip. */
    read(token: string, trip: OrderedTrip): string | null {
      const [, id = '', time = '', signature = ''] = FORMAT.exec(token) ?? []
      const isValid =
        signer.verify(toText(id, time, trip), signature) &&
        Date.now() - parseInt(time, 36) < VALID_MS
      return isValid ? id : null
    },
  }
}
