/** Second factors of users, for both databases. Part of a migration: never edit a released one. */
export const SECOND_FACTOR_TABLES: readonly string[] = [
  `CREATE TABLE authenticator_apps (
    email TEXT PRIMARY KEY,         -- of the account, in lower case
    secret TEXT NOT NULL,           -- of the one-time passwords (RFC 6238), encrypted
    last_step BIGINT NOT NULL,      -- time step of the last accepted code
    created_at BIGINT NOT NULL      -- timestamps are in ms since 1970
  )`,
  `CREATE TABLE passkeys (
    id TEXT PRIMARY KEY,            -- credential ID, Base64url
    email TEXT NOT NULL,
    name TEXT NOT NULL,
    public_key TEXT NOT NULL,       -- COSE, Base64url
    sign_count BIGINT NOT NULL,     -- of the last use, as the authenticator reported it
    transports TEXT NOT NULL,       -- JSON
    created_at BIGINT NOT NULL,
    last_used_at BIGINT
  )`,
  'CREATE INDEX passkeys_by_email ON passkeys (email)',
  `CREATE TABLE recovery_codes (
    code_hash TEXT PRIMARY KEY,     -- SHA-256
    email TEXT NOT NULL
  )`,
  'CREATE INDEX recovery_codes_by_email ON recovery_codes (email)',
]
