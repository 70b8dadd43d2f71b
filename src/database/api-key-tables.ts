/** Tables of API keys, for both databases. Part of a migration: never edit a released one. */
export const API_KEY_TABLES: readonly string[] = [
  `CREATE TABLE api_keys (
    id TEXT PRIMARY KEY,
    key_hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,             -- the last characters of the key
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,           -- JSON
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,     -- timestamps are in ms since 1970
    expires_at BIGINT,
    last_used_at BIGINT,
    revoked_at BIGINT
  )`,
]

/** Keys could settle orders before the scope existed. Part of a migration: never edit it. */
export const SETTLE_SCOPE_MIGRATION: readonly string[] = [
  `UPDATE api_keys SET scopes = replace(scopes, '"orders:write"', '"orders:write","orders:settle"')`,
]
