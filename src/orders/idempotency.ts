import { createHash } from 'node:crypto'
import { isObject } from '../validation/is-object.js'
import { createFirstVersion } from './apply-changes.js'
import type { NewOrder } from './order.js'

/** Fields of the same names and values are the same, in whatever order they come. */
const sorted = (_name: string, value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** How long it is known which order was entered with a key, ms. */
export const IDEMPOTENCY_KEY_TTL_MS = 30 * 24 * 60 * 60 * 1000

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, sorted)).digest('base64url')

/** A key as it is kept: everybody has keys of their own. */
export const hashIdempotencyKey = (key: string, by: string): string => digest([by, key])

const SOME_TIME = '2000-01-01T00:00:00Z'

/**
 * What tells orders to be entered apart, the same in any process. What is left to the defaults is
 * the same as where they are spelt out.
 */
export const hashOrder = (given: NewOrder): string => digest(createFirstVersion(given, SOME_TIME))
