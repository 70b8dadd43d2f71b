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

/** Certificates. */
export const CERTIFICATE_TABLES: readonly string[] = [
  `CREATE TABLE certificates (
    code TEXT PRIMARY KEY,              -- random; part of its URL
    order_id TEXT NOT NULL,
    issued_for TEXT NOT NULL UNIQUE,    -- ID of the message that it was issued for
    content TEXT NOT NULL,              -- JSON: CertificateContent
    issued_at BIGINT NOT NULL           -- ms since 1970
  )`,
  'CREATE INDEX certificates_by_order ON certificates (order_id, issued_at)',
]

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

/** Payments of orders. */
export const PAYMENT_MIGRATION: readonly string[] = [
  // Guests' attempts to pay through Stripe. Amounts are in minor units, times in ms since 1970.
  `CREATE TABLE payments (
    id TEXT PRIMARY KEY,
    order_id TEXT NOT NULL,
    number INTEGER NOT NULL,            -- 1 for the first of its order
    state TEXT NOT NULL,                -- PAYMENT_STATES
    amount_minor BIGINT NOT NULL,
    currency TEXT NOT NULL,
    session_id TEXT UNIQUE,             -- at Stripe
    intent_id TEXT,
    refunded_minor BIGINT NOT NULL,
    dispute TEXT,                       -- status at Stripe
    problem TEXT,                       -- PAYMENT_PROBLEMS
    settled_at BIGINT,                  -- when the order was marked as paid because of it
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    check_at BIGINT,                    -- when to query Stripe again; NULL for never
    revision INTEGER NOT NULL,
    UNIQUE (order_id, number)
  )`,
  'CREATE INDEX payments_by_intent ON payments (intent_id) WHERE intent_id IS NOT NULL',
  'CREATE INDEX payments_due ON payments (check_at) WHERE check_at IS NOT NULL',
  'CREATE INDEX orders_by_origin ON orders (origin, placed_at) WHERE origin IS NOT NULL',
]

/** Table of saved order lists. */
export const ORDER_VIEW_TABLES: readonly string[] = [
  `CREATE TABLE order_views (
    name TEXT PRIMARY KEY,
    query TEXT NOT NULL,            -- query string of the list
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL      -- ms since 1970
  )`,
]

/** Tables for orders that mirror a NocoDB table. */
export const NOCODB_TABLES: readonly string[] = [
  `CREATE TABLE nocodb_rows (
    id BIGINT PRIMARY KEY,              -- also the ID of the order
    stamp TEXT NOT NULL,                -- changes with most edits, quick to read
    digest TEXT NOT NULL,               -- changes with every edit
    fault TEXT,                         -- why the row is skipped; NULL if it is an order
    edited INTEGER NOT NULL,            -- 1 if an edit made in NocoDB is not recorded there yet
    requested_at BIGINT NOT NULL        -- when this state was requested, ms since 1970
  )`,
  'CREATE INDEX nocodb_edits ON nocodb_rows (id) WHERE edited = 1',
  'CREATE INDEX nocodb_faults ON nocodb_rows (id) WHERE fault IS NOT NULL',
  // What the orders mirror, and how far the synchronisation has come: see MirrorState.
  'CREATE TABLE nocodb_state (name TEXT PRIMARY KEY, value TEXT NOT NULL)',
  'CREATE INDEX idempotency_keys_by_order ON idempotency_keys (order_id)',
  // Work that one process does for all.
  `CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at BIGINT NOT NULL          -- ms since 1970
  )`,
]
