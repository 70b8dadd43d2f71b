/** Accounts of users, for both databases. Part of a migration: never edit a released one. */
export const ACCOUNT_TABLES: readonly string[] = [
  `CREATE TABLE accounts (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL UNIQUE,     -- in lower case
    role TEXT NOT NULL,             -- ROLES
    password_hash TEXT,             -- Argon2id, as a PHC string; NULL until the invitation is accepted
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,     -- timestamps are in ms since 1970
    disabled_at BIGINT
  )`,
  // Invitations and links to reset a password
  `CREATE TABLE account_links (
    token_hash TEXT PRIMARY KEY,    -- SHA-256
    account_id TEXT NOT NULL,
    purpose TEXT NOT NULL,          -- LINK_PURPOSES
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
  )`,
  'CREATE INDEX account_links_by_account ON account_links (account_id)',
]
