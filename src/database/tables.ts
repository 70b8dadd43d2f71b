import type { Migrations } from './migrations.js'

/* Never edit a released migration, except for its comments. */

/** The state that processes share through PostgreSQL. */
const STATE = [
  // Timestamps are in ms since 1970, by the clock of the database.
  'CREATE TABLE state_keys (key TEXT PRIMARY KEY, expires_at BIGINT NOT NULL)',
  'CREATE INDEX state_keys_by_expiry ON state_keys (expires_at)',
  `CREATE TABLE state_counters (
    key TEXT PRIMARY KEY,
    consumed INTEGER NOT NULL,
    expires_at BIGINT NOT NULL
  )`,
  'CREATE INDEX state_counters_by_expiry ON state_counters (expires_at)',
]

export default { 3: { postgres: STATE } } satisfies Migrations
