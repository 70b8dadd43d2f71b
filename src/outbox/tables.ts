import type { Migrations } from '../database/migrations.js'

/* Never edit a released migration, except for its comments. */

/** The type of a column that numbers rows in the order of their creation. */
const SEQUENCE_TYPES = {
  sqlite: 'INTEGER PRIMARY KEY AUTOINCREMENT',
  postgres: 'BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY',
}

/** Tables for order events and the outbox. */
const createTables = (engine: keyof typeof SEQUENCE_TYPES): readonly string[] => [
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

export default {
  6: { sqlite: createTables('sqlite'), postgres: createTables('postgres') },
} satisfies Migrations
