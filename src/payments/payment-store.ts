import { randomUUID } from 'node:crypto'
import type { Database, Queryable } from '../database/database.js'
import type { Order } from '../orders/order.js'
import type { PaymentFilter } from '../orders/order-filters.js'
import type { Payment, PaymentProblem, PaymentState } from './payment.js'

interface PaymentRow {
  id: string
  order_id: string
  number: number
  state: PaymentState
  amount_minor: number
  currency: string
  session_id: string | null
  intent_id: string | null
  refunded_minor: number
  dispute: string | null
  problem: PaymentProblem | null
  settled_at: number | null
  created_at: number
  updated_at: number
  check_at: number | null
  revision: number
}

const toPayment = (row: PaymentRow): Payment => ({
  id: row.id,
  orderId: row.order_id,
  number: row.number,
  state: row.state,
  amountMinor: row.amount_minor,
  currency: row.currency,
  sessionId: row.session_id,
  intentId: row.intent_id,
  refundedMinor: row.refunded_minor,
  dispute: row.dispute,
  problem: row.problem,
  settledAt: row.settled_at,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  checkAt: row.check_at,
  revision: row.revision,
})

/** Filters apply only to the latest payment of an order. */
const IS_LATEST = `NOT EXISTS (SELECT 1 FROM payments AS newer
  WHERE newer.order_id = payments.order_id AND newer.number > payments.number)`

const REFUNDED = "state = 'paid' AND refunded_minor >= amount_minor AND refunded_minor > 0"

/** SQL conditions of the filters; see PaymentStatus. */
const FILTER_CONDITIONS: Record<PaymentFilter, string> = {
  open: "state IN ('creating', 'open')",
  processing: "state = 'processing'",
  paid: "state = 'paid' AND refunded_minor = 0",
  partially_refunded: "state = 'paid' AND refunded_minor > 0 AND refunded_minor < amount_minor",
  refunded: REFUNDED,
  failed: "state = 'failed'",
  expired: "state = 'expired'",
  disputed: "dispute IS NOT NULL AND dispute NOT IN ('won', 'warning_closed', 'prevented')",
  problem: "problem IS NOT NULL OR dispute IN ('needs_response', 'warning_needs_response')",
}

async function selectPayments(
  tx: Queryable,
  condition: string,
  values: readonly (string | number)[],
): Promise<Payment[]> {
  const rows = await tx.query<PaymentRow>(
    `SELECT * FROM payments WHERE ${condition} ORDER BY number DESC`,
    values,
  )
  return rows.map(toPayment)
}

/** Returns the latest payment of each order, by order ID. */
export async function findLatestPayments(
  tx: Queryable,
  orderIds: readonly string[],
): Promise<Map<string, Payment>> {
  if (orderIds.length === 0) return new Map()
  const condition = `order_id IN (${orderIds.map(() => '?').join(', ')}) AND ${IS_LATEST}`
  const payments = await selectPayments(tx, condition, orderIds)
  return new Map(payments.map((payment) => [payment.orderId, payment]))
}

/**
 * Stores payments in the service's database. Methods throw DatabaseUnavailableError; `takeDue` can
 * also throw CommitUnknownError.
 */
export function createPaymentStore(database: Database) {
  const select = (condition: string, values: readonly (string | number)[]) =>
    selectPayments(database, condition, values)

  const find = async (condition: string, value: string): Promise<Payment | null> =>
    (await select(condition, [value]))[0] ?? null

  return {
    get: (id: string): Promise<Payment | null> => find('id = ?', id),
    findBySession: (sessionId: string): Promise<Payment | null> =>
      find('session_id = ?', sessionId),
    findByIntent: (intentId: string): Promise<Payment | null> => find('intent_id = ?', intentId),
    /** Returns the payments of an order, latest first. */
    list: (orderId: string): Promise<Payment[]> => select('order_id = ?', [orderId]),

    /** Returns the payments of several orders, latest first. */
    listOf: async (orderIds: readonly string[]): Promise<Payment[]> =>
      orderIds.length === 0
        ? []
        : select(`order_id IN (${orderIds.map(() => '?').join(', ')})`, orderIds),
    /** Returns the latest payment of each order, by order ID. */
    findLatest: (orderIds: readonly string[]): Promise<Map<string, Payment>> =>
      findLatestPayments(database, orderIds),

    /** Returns the IDs of the orders whose latest payment matches any of the filters. */
    async findOrderIds(filters: readonly PaymentFilter[]): Promise<number[]> {
      const conditions = filters.map((filter) => `(${FILTER_CONDITIONS[filter]})`).join(' OR ')
      const rows = await database.query<{ order_id: string }>(
        `SELECT order_id FROM payments WHERE (${conditions}) AND ${IS_LATEST}`,
      )
      return rows.map(({ order_id }) => Number(order_id))
    },

    /**
     * Returns the order's payment with this number; adds the payment if it does not exist.
     * Concurrent attempts to pay for an order therefore share one payment.
     */
    async add(
      { id, amountMinor, currency }: Pick<Order, 'id' | 'amountMinor' | 'currency'>,
      number: number,
      checkAt: number,
    ): Promise<Payment> {
      const now = Date.now()
      await database.query(
        `INSERT INTO payments VALUES (?, ?, ?, 'creating', ?, ?, NULL, NULL, 0, NULL, NULL, NULL,
           ?, ?, ?, 1) ON CONFLICT DO NOTHING`,
        [randomUUID(), id, number, amountMinor, currency, now, now, checkAt],
      )
      const [payment] = await select('order_id = ? AND number = ?', [id, number])
      if (payment === undefined) throw new Error('a payment that was added does not exist')
      return payment
    },

    /** Changes a payment; returns `null` if it has been changed since it was read. */
    async update(payment: Payment, changes: Partial<Payment>): Promise<Payment | null> {
      const next = { ...payment, ...changes }
      const [row] = await database.query<PaymentRow>(
        `UPDATE payments SET state = ?, amount_minor = ?, currency = ?, session_id = ?,
           intent_id = ?, refunded_minor = ?, dispute = ?, problem = ?, settled_at = ?,
           updated_at = ?, check_at = ?, revision = revision + 1
         WHERE id = ? AND revision = ? RETURNING *`,
        [
          next.state,
          next.amountMinor,
          next.currency,
          next.sessionId,
          next.intentId,
          next.refundedMinor,
          next.dispute,
          next.problem,
          next.settledAt,
          Date.now(),
          next.checkAt,
          payment.id,
          payment.revision,
        ],
      )
      return row === undefined ? null : toPayment(row)
    },

    /**
     * Makes payments due for a check after a change to their order, in the caller's transaction. A
     * check in progress starts again, because it may have read the order before the change.
     */
    async makeDue(tx: Queryable, orderId: string, hasNewStatus: boolean): Promise<void> {
      const states = hasNewStatus ? "'open', 'processing', 'paid'" : "'open'"
      await tx.query(
        `UPDATE payments SET check_at = ?, revision = revision + 1
         WHERE order_id = ? AND (state IN (${states}) OR problem IS NOT NULL)`,
        [Date.now(), orderId],
      )
    },

    /**
     * Claims payments that are due for a check, so that other processes do not check them before
     * `until`.
     */
    async takeDue(limit: number, until: number): Promise<Payment[]> {
      const now = Date.now()
      const rows = await database.write((tx) =>
        tx.query<PaymentRow>(
          `UPDATE payments SET check_at = ?
           WHERE check_at <= ? AND id IN (
             SELECT id FROM payments WHERE check_at <= ? ORDER BY check_at LIMIT ?
           ) RETURNING *`,
          [until, now, now, limit],
        ),
      )
      return rows.map(toPayment)
    },
  }
}

export type PaymentStore = ReturnType<typeof createPaymentStore>
