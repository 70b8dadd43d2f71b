/* Tables for both databases. Part of migrations: never edit a released one. */

/**
 * Tables that count how many scans become orders. They contain order IDs, but no other data about
 * guests.
 */
export const CONVERSION_TABLES: readonly string[] = [
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
