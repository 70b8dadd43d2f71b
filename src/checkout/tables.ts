import type { Migrations } from '../database/migrations.js'

/* Never edit a released migration, except for its comments. */

/** Schema for guest orders. */
const GUEST_ORDERS = [
  'ALTER TABLE orders ADD COLUMN origin TEXT', // ORDER_ORIGINS; NULL if it was not recorded
  'ALTER TABLE orders ADD COLUMN checkout TEXT', // JSON; NULL unless a guest placed the order
  // Private links of guests to their orders: SHA-256 of the token, base64url.
  `CREATE TABLE order_links (
    token_hash TEXT PRIMARY KEY,
    order_id TEXT NOT NULL,
    created_at BIGINT NOT NULL          -- ms since 1970
  )`,
]

/**
 * Tables that count how many scans become orders. They contain order IDs, but no other data about
 * guests.
 */
const CONVERSIONS = [
  `CREATE TABLE conversion_counts (
    day INTEGER NOT NULL,               -- days since 1970, in the time zone of the settings
    step TEXT NOT NULL,                 -- CountedStep
    count BIGINT NOT NULL,
    PRIMARY KEY (day, step)
  )`,
  `CREATE TABLE conversion_orders (
    order_id TEXT PRIMARY KEY,
    day INTEGER NOT NULL,               -- on which it was placed
    is_paid INTEGER NOT NULL            -- 1 if it was ever paid, else 0
  )`,
  'CREATE INDEX conversion_orders_by_day ON conversion_orders (day)',
]

export default { 10: { both: GUEST_ORDERS }, 11: { both: CONVERSIONS } } satisfies Migrations
