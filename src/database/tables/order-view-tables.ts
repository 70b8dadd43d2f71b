/* Tables for both databases. Part of migrations: never edit a released one. */

/** Table of saved order lists. */
export const ORDER_VIEW_TABLES: readonly string[] = [
  `CREATE TABLE order_views (
    name TEXT PRIMARY KEY,
    query TEXT NOT NULL,            -- query string of the list
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL      -- ms since 1970
  )`,
]
