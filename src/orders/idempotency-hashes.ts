import { createHash } from 'node:crypto'
import { isObject } from '../core/validation/is-object.js'
import { createFirstVersion } from './change-order.js'
import type { NewOrder } from './order.js'

/** How long a key protects against creating an order twice, in ms. */
export const IDEMPOTENCY_KEY_TTL_MS = 30 * 24 * 60 * 60 * 1000

/** JSON replacer that sorts keys, so that their order makes no difference. */
const sortKeys = (_name: string, value: unknown): unknown =>
  isObject(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

/** Hashes a value as JSON; the order of keys makes no difference. */
export const hashJson = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, sortKeys)).digest('base64url')

/** Hashes a key for storage. The same key from another user has a different hash. */
export const hashIdempotencyKey = (key: string, by: string): string => hashJson([by, key])

const ANY_TIME = '2000-01-01T00:00:00Z'

/**
 * Hashes a new order with defaults filled in. The hash is stored, so it must not depend on the
 * version of Clearwake. Fields that earlier versions did not have are therefore left out, except
 * the checkout of a guest order.
 */
export const hashOrder = (order: NewOrder): string =>
  hashJson({
    ...createFirstVersion(order, ANY_TIME),
    calculation: undefined,
    origin: undefined,
    cancelledFrom: undefined,
    paidAt: undefined,
    retirement: undefined,
    checkout: order.checkout ?? undefined,
  })
