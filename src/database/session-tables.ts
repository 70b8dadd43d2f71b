/** Sessions of users, for both databases. Part of a migration: never edit a released one. */
export const SESSION_TABLES: readonly string[] = [
  `CREATE TABLE sessions (
    id TEXT PRIMARY KEY,            -- public: in lists and URLs
    token_hash TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL,            -- of the account, in lower case
    user_agent TEXT NOT NULL,
    address TEXT NOT NULL,          -- of the client
    created_at BIGINT NOT NULL,     -- timestamps are in ms since 1970
    last_seen_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    authenticated_at BIGINT NOT NULL,  -- when the user last proved who they are
    multi_factor INTEGER NOT NULL      -- 1 if a second factor was used
  )`,
  'CREATE INDEX sessions_by_email ON sessions (email)',
  'CREATE INDEX sessions_by_expiry ON sessions (expires_at)',
]
