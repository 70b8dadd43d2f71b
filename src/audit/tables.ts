import type { Migrations } from '../database/migrations.js'

/* Never edit a released migration, except for its comments. */

/** The audit log. */
const AUDIT_LOG = [
  `CREATE TABLE audit_log (
    position BIGINT PRIMARY KEY,    -- without gaps
    at BIGINT NOT NULL,             -- ms since 1970
    action TEXT NOT NULL,           -- AUDIT_ACTIONS
    actor TEXT NOT NULL,            -- an email, or an API key by its name
    address TEXT,                   -- of the client
    details TEXT NOT NULL,          -- JSON, as it was hashed
    hash TEXT NOT NULL              -- SHA-256 of this entry and the hash of the one before
  )`,
  'CREATE INDEX audit_log_by_time ON audit_log (at)',
  // One row, which every writer locks, so that entries are appended one after the other.
  `CREATE TABLE audit_chain (
    id INTEGER PRIMARY KEY,
    head_position BIGINT NOT NULL,  -- the latest entry; 0 if there was none yet
    head_hash TEXT NOT NULL,
    anchor_position BIGINT NOT NULL, -- the latest entry that was deleted when it expired
    anchor_hash TEXT NOT NULL
  )`,
  "INSERT INTO audit_chain VALUES (1, 0, '', 0, '')",
]

export default { 17: { both: AUDIT_LOG } } satisfies Migrations
