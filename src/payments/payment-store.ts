import { randomUUID } from 'node:crypto'
import type { Database, Queryable } from '../database/database.js'
import { openReadOnly } from '../database/open-database.js'
import { openPostgres } from '../database/postgres.js'
import type { DatabaseSource } from '../database/stream-rows.js'
import type { Amount } from '../orders/amount.js'
import type { PaymentFilter } from '../orders/order-filters.js'
import { isPaid } from '../orders/order-status.js'
import type { Order } from '../orders/order.js'
import {
  countNoun,
  type DescribeConsequences,
  type OrderChange,
} from '../orders/pages/order-extensions.js'
import { getBalance, type Payment } from './payment.js'

/** The columns of a payment, named as its fields. */
const COLUMNS = `id, order_id AS "orderId", number, state, amount_minor AS "amountMinor", currency,
  session_id AS "sessionId", intent_id AS "intentId", refunded_minor AS "refundedMinor", dispute,
  problem, settled_at AS "settledAt", created_at AS "createdAt", updated_at AS "updatedAt",
  check_at AS "checkAt", revision`

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

const selectPayments = (
  tx: Queryable,
  condition: string,
  values: readonly (string | number)[],
): Promise<Payment[]> =>
  tx.query(`SELECT ${COLUMNS} FROM payments WHERE ${condition} ORDER BY number DESC`, values)

/** Returns the latest payment of each order, by order ID. */
async function findLatestPayments(
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
      const [updated = null] = await database.query<Payment>(
        `UPDATE payments SET state = ?, amount_minor = ?, currency = ?, session_id = ?,
           intent_id = ?, refunded_minor = ?, dispute = ?, problem = ?, settled_at = ?,
           updated_at = ?, check_at = ?, revision = revision + 1
         WHERE id = ? AND revision = ? RETURNING ${COLUMNS}`,
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
      return updated
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
    takeDue(limit: number, until: number): Promise<Payment[]> {
      const now = Date.now()
      return database.write((tx) =>
        tx.query<Payment>(
          `UPDATE payments SET check_at = ?
           WHERE check_at <= ? AND id IN (
             SELECT id FROM payments WHERE check_at <= ? ORDER BY check_at LIMIT ?
           ) RETURNING ${COLUMNS}`,
          [until, now, now, limit],
        ),
      )
    },
  }
}

export type PaymentStore = ReturnType<typeof createPaymentStore>

/** Reads payments through a separate connection, for exports that run in another thread. */
export function openPaymentReader(source: DatabaseSource): {
  find: (orderIds: readonly string[]) => Promise<Map<string, Payment>>
  close: () => Promise<void>
} {
  if (source.type === 'postgres') {
    const postgres = openPostgres(source.url, { poolSize: 1 })
    return { find: (ids) => findLatestPayments(postgres, ids), close: () => postgres.close() }
  }
  const db = openReadOnly(source.path)
  const queryable: Queryable = {
    query: async <Row>(sql: string, values: Parameters<Queryable['query']>[1] = []) =>
      db.prepare(sql).all(...values) as Row[],
  }
  return {
    find: (ids) => findLatestPayments(queryable, ids),
    close: async () => void db.close(),
  }
}

/** The money that a customer has paid for an order that ends, and that is not refunded. */
function findUnreturned(
  { before, after }: OrderChange,
  payments: readonly Payment[],
): Amount | null {
  if (after.status !== 'cancelled' && after.status !== 'refunded') return null
  const held = payments.find((payment) => getBalance(payment) > 0)
  if (held !== undefined) return { currency: held.currency, amountMinor: getBalance(held) }
  const isRecorded = after.status === 'cancelled' && isPaid(before.status)
  const isRefunded = payments.some(({ refundedMinor }) => refundedMinor > 0)
  return isRecorded && !isRefunded && before.amountMinor > 0
    ? { currency: before.currency, amountMinor: before.amountMinor }
    : null
}

function sumByCurrency(amounts: readonly Amount[]): Amount[] {
  const sums = new Map<string, number>()
  for (const { currency, amountMinor } of amounts) {
    sums.set(currency, (sums.get(currency) ?? 0) + amountMinor)
  }
  return [...sums].map(([currency, amountMinor]) => ({ currency, amountMinor }))
}

const list = new Intl.ListFormat('en')

/** Loads payments to say how much money changes leave paid and not refunded. */
export async function loadUnreturnedMoney(
  store: PaymentStore,
  orders: readonly Order[],
): Promise<DescribeConsequences> {
  const payments = await store.listOf(orders.map(({ id }) => id))
  const listOf = (order: Order) => payments.filter(({ orderId }) => orderId === order.id)
  return (changes, options) => {
    const unreturned = changes
      .map((change) => findUnreturned(change, options.isRefund ? [] : listOf(change.before)))
      .filter((amount) => amount !== null)
    if (unreturned.length === 0) return []
    const amounts = list.format(
      sumByCurrency(unreturned).map(({ amountMinor, currency }) =>
        options.format.money(amountMinor, currency),
      ),
    )
    const counted = options.isSingle ? '' : ` (${countNoun(unreturned.length, 'order', options)})`
    return [{ clause: `leaves ${amounts} paid and not refunded${counted}` }]
  }
}
