import type { Migrations } from '../database/migrations.js'

/* Never edit a released migration, except for its comments. */

/** Tables for orders that mirror a NocoDB table. */
const MIRROR = [
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

export default { 24: { both: MIRROR } } satisfies Migrations
