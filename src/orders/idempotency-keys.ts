import { createHash } from 'node:crypto'
import { isObject } from '../validation/is-object.js'

/** Fields of the same names and values are the same, in whatever order they come. */
const sorted = (_name: string, value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** How long it is known which order was entered with a key, ms. */
export const KEYS_LAST_MS = 30 * 24 * 60 * 60 * 1000

/** What tells requests apart by what they ask for; the same in any process. */
export const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, sorted)).digest('base64url')
