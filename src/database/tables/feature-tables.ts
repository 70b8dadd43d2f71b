/* Tables for both databases, by feature. Part of migrations: never edit a released one. */

/** Accounts of users. */
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

/** Tables of API keys. */
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

/** Keys could settle orders before the scope existed. */
export const SETTLE_SCOPE_MIGRATION: readonly string[] = [
  `UPDATE api_keys SET scopes = replace(scopes, '"orders:write"', '"orders:write","orders:settle"')`,
]

/** Second factors of users. */
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

/** Sessions of users. */
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

/** The audit log. */
export const AUDIT_TABLES: readonly string[] = [
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

/** Certificates. */
export const CERTIFICATE_TABLES: readonly string[] = [
  `CREATE TABLE certificates (
    code TEXT PRIMARY KEY,              -- random; part of its URL
    order_id TEXT NOT NULL,
    issued_for TEXT NOT NULL UNIQUE,    -- ID of the message that it was issued for
    content TEXT NOT NULL,              -- JSON: CertificateContent
    issued_at BIGINT NOT NULL           -- ms since 1970
  )`,
  'CREATE INDEX certificates_by_order ON certificates (order_id, issued_at)',
]

/** Schema for guest orders. */
export const ORDERING_MIGRATION: readonly string[] = [
  'ALTER TABLE orders ADD COLUMN origin TEXT', // ORDER_ORIGINS; NULL if it was not recorded
  'ALTER TABLE orders ADD COLUMN checkout TEXT', // JSON; NULL unless a guest placed the order
  // Private links of guests to their orders: SHA-256 of the token, base64url.
  `CREATE TABLE order_links (
    token_hash TEXT PRIMARY KEY,
    order_id TEXT NOT NULL,
    created_at BIGINT NOT NULL          -- ms since 1970
  )`,
]

/**
 * Tables that count how many scans become orders. They contain order IDs, but no other data about
 * guests.
 */
export const CONVERSION_TABLES: readonly string[] = [
  `CREATE TABLE conversion_counts (
    day INTEGER NOT NULL,               -- days since 1970, in the time zone of the settings
    step TEXT NOT NULL,                 -- CountedStep
    count BIGINT NOT NULL,
    PRIMARY KEY (day, step)
  )`,
  `CREATE TABLE conversion_orders (
    order_id TEXT PRIMARY KEY,
    day INTEGER NOT NULL,               -- on which it was placed
    is_paid INTEGER NOT NULL            -- 1 if it was ever paid, else 0
  )`,
  'CREATE INDEX conversion_orders_by_day ON conversion_orders (day)',
]

/** Tables for orders that mirror a NocoDB table. */
export const NOCODB_TABLES: readonly string[] = [
  `CREATE TABLE nocodb_rows (
    id BIGINT PRIMARY KEY,              -- also the ID of the order
    stamp TEXT NOT NULL,                -- changes with most edits, quick to read
    digest TEXT NOT NULL,               -- changes with every edit
    fault TEXT,                         -- why the row is skipped; NULL if it is an order
    edited INTEGER NOT NULL,            -- 1 if an edit made in NocoDB is not recorded there yet
    requested_at BIGINT NOT NULL        -- when this state was requested, ms since 1970
  )`,
  'CREATE INDEX nocodb_edits ON nocodb_rows (id) WHERE edited = 1',
  'CREATE INDEX nocodb_faults ON nocodb_rows (id) WHERE fault IS NOT NULL',
  // What the orders mirror, and how far the synchronisation has come: see MirrorState.
  'CREATE TABLE nocodb_state (name TEXT PRIMARY KEY, value TEXT NOT NULL)',
  'CREATE INDEX idempotency_keys_by_order ON idempotency_keys (order_id)',
  // Work that one process does for all.
  `CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    expires_at BIGINT NOT NULL          -- ms since 1970
  )`,
]

/** The type of a column that numbers rows in the order of their creation. */
const SEQUENCE_TYPES = {
  sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  postgres: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
}

/** Tables for order events and the outbox. */
export const createOutboxTables = (engine: keyof typeof SEQUENCE_TYPES): readonly string[] => [
  // Changes to orders that have not been dispatched yet; written in the transaction of the change.
  `CREATE TABLE order_events (
    id ${SEQUENCE_TYPES[engine]},
    at BIGINT NOT NULL,             -- timestamps are in ms since 1970
    previous_status TEXT,           -- NULL for a new order
    order_data TEXT NOT NULL        -- JSON: the order after the change
  )`,
  // Messages to send, such as emails and webhook deliveries. See src/outbox.
  `CREATE TABLE outbox (
    position ${SEQUENCE_TYPES[engine]},
    id TEXT NOT NULL UNIQUE,
    queue TEXT NOT NULL,
    sequence TEXT NOT NULL,         -- messages with the same sequence are sent one after the other
    type TEXT NOT NULL,
    order_id TEXT,
    payload TEXT NOT NULL,          -- JSON
    state TEXT NOT NULL,            -- MESSAGE_STATES
    attempts INTEGER NOT NULL,
    failures INTEGER NOT NULL,      -- since it was last queued
    created_at BIGINT NOT NULL,
    next_attempt_at BIGINT NOT NULL,
    claimed_until BIGINT NOT NULL,  -- end of the lease of the process that sends it
    finished_at BIGINT
  )`,
  "CREATE INDEX outbox_due ON outbox (queue, next_attempt_at) WHERE state = 'pending'",
  "CREATE INDEX outbox_sequence ON outbox (sequence, position) WHERE state = 'pending'",
  'CREATE INDEX outbox_by_queue ON outbox (queue, position)',
  'CREATE INDEX outbox_by_order ON outbox (order_id, position) WHERE order_id IS NOT NULL',
  `CREATE TABLE outbox_attempts (
    message_id TEXT NOT NULL,
    number INTEGER NOT NULL,
    at BIGINT NOT NULL,
    duration_ms INTEGER NOT NULL,
    status INTEGER,                 -- of the HTTP or SMTP response
    detail TEXT NOT NULL,           -- the beginning of the response, or the error
    PRIMARY KEY (message_id, number)
  )`,
]

/** Payments of orders. */
export const PAYMENT_MIGRATION: readonly string[] = [
  // Guests' attempts to pay through Stripe. Amounts are in minor units, times in ms since 1970.
  `CREATE TABLE payments (
    id TEXT PRIMARY KEY,
    order_id TEXT NOT NULL,
    number INTEGER NOT NULL,            -- 1 for the first of its order
    state TEXT NOT NULL,                -- PaymentState
    amount_minor BIGINT NOT NULL,
    currency TEXT NOT NULL,
    session_id TEXT UNIQUE,             -- at Stripe
    intent_id TEXT,
    refunded_minor BIGINT NOT NULL,
    dispute TEXT,                       -- status at Stripe
    problem TEXT,                       -- PAYMENT_PROBLEMS
    settled_at BIGINT,                  -- when the order was marked as paid because of it
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    check_at BIGINT,                    -- when to query Stripe again; NULL for never
    revision INTEGER NOT NULL,
    UNIQUE (order_id, number)
  )`,
  'CREATE INDEX payments_by_intent ON payments (intent_id) WHERE intent_id IS NOT NULL',
  'CREATE INDEX payments_due ON payments (check_at) WHERE check_at IS NOT NULL',
  'CREATE INDEX orders_by_origin ON orders (origin, placed_at) WHERE origin IS NOT NULL',
]

/** The state that processes share through PostgreSQL. */
export const STATE_TABLES = [
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

/** The table of webhook endpoints. Their deliveries are in the outbox. */
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

/** Table of saved order lists. */
export const ORDER_VIEW_TABLES: readonly string[] = [
  `CREATE TABLE order_views (
    name TEXT PRIMARY KEY,
    query TEXT NOT NULL,            -- query string of the list
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL      -- ms since 1970
  )`,
]

/** How far each projection has come. */
export const PROJECTION_TABLES: readonly string[] = [
  `CREATE TABLE projections (
    name TEXT PRIMARY KEY,
    position BIGINT NOT NULL        -- the orders up to this ID are projected; then their events are
  )`,
]
