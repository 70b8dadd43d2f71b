/** The audit log, for both databases. Part of a migration: never edit a released one. */
export const AUDIT_TABLES: readonly string[] = [
  `CREATE TABLE audit_log (
    position BIGINT PRIMARY KEY,    -- without gaps
    at BIGINT NOT NULL,             -- ms since 1970
    action TEXT NOT NULL,           -- AUDIT_ACTIONS
    actor TEXT NOT NULL,            -- an email, or an API key by its name
    address TEXT,                   -- of the client
    details TEXT NOT NULL,          -- JSON
    hash TEXT NOT NULL              -- SHA-256 of this entry and the hash of the one before
  )`,
  'CREATE INDEX audit_log_by_time ON audit_log (at)',
]
