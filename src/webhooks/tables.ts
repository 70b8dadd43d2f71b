import type { Migrations } from '../database/migrations.js'

/* Never edit a released migration, except for its comments. */

/** The table of webhook endpoints. Their deliveries are in the outbox. */
const ENDPOINTS = [
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

export default { 9: { both: ENDPOINTS } } satisfies Migrations
