/* Tables for both databases. Part of migrations: never edit a released one. */

/**
 * The table of webhook endpoints, for both databases. Their deliveries are in the outbox. Part of a
 * migration: never edit a released one.
 */
export const WEBHOOK_TABLES: readonly string[] = [
  `CREATE TABLE webhook_endpoints (
    id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    description TEXT NOT NULL,
    events TEXT NOT NULL,              -- JSON: array of WEBHOOK_EVENT_TYPES
    secret TEXT NOT NULL,              -- encrypted, see secrets.ts
    previous_secret TEXT,              -- also encrypted, valid until previous_secret_expires_at
    previous_secret_expires_at BIGINT, -- timestamps are in ms since 1970
    disabled_reason TEXT,              -- DISABLED_REASONS; NULL while it is enabled
    disabled_at BIGINT,
    failing_since BIGINT,              -- the first failure since the last success
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
  )`,
]
