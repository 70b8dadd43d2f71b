import type { Migrations } from '../database/migrations.js'

/* Never edit a released migration, except for its comments. */

/** Payments of orders. */
const PAYMENTS = [
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

export default { 13: { both: PAYMENTS } } satisfies Migrations
