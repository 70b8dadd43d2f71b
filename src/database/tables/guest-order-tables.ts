/* Tables for both databases. Part of migrations: never edit a released one. */

/** Schema for guest orders. */
export const ORDERING_MIGRATION: readonly string[] = [
  'ALTER TABLE orders ADD COLUMN origin TEXT', // ORDER_ORIGINS; NULL if it was not recorded
  'ALTER TABLE orders ADD COLUMN checkout TEXT', // JSON; NULL unless a guest placed the order
  // Private links of guests to their orders: SHA-256 of the token, base64url.
  `CREATE TABLE order_links (
    token_hash TEXT PRIMARY KEY,
    order_id TEXT NOT NULL,
    created_at BIGINT NOT NULL          -- ms since 1970
  )`,
]
