import type { Migrations } from '../database/migrations.js'

/* Never edit a released migration, except for its comments. */

/** Tables of API keys. */
const API_KEYS = [
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

/** Accounts of users. */
const ACCOUNTS = [
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

/** Sessions of users. */
const SESSIONS = [
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

/** Second factors of users. */
const SECOND_FACTORS = [
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

/** Keys could settle orders before the scope existed. */
const SETTLE_SCOPE = [
  `UPDATE api_keys SET scopes = replace(scopes, '"orders:write"', '"orders:write","orders:settle"')`,
]

export default {
  7: { both: API_KEYS },
  15: { both: ACCOUNTS },
  16: { both: SESSIONS },
  18: { both: SECOND_FACTORS },
  21: { both: SETTLE_SCOPE },
} satisfies Migrations
