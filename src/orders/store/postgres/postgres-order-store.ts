import type { FastifyBaseLogger } from 'fastify'
import {
  CommitUnknownError,
  DatabaseUnavailableError,
  type Queryable,
} from '../../../database/database.js'
import type { Postgres } from '../../../database/postgres.js'
import {
  createUnavailableError,
  isDuplicate,
  isUnavailable,
} from '../../../database/postgres-errors.js'
import { isReset } from '../../attempt.js'
import { Problem } from '../../../core/http/problem.js'
import { createFirstVersion } from '../../apply-changes.js'
import { createDayCalendar } from '../../../core/formatting/day-calendar.js'
import { hashIdempotencyKey, hashOrder, IDEMPOTENCY_KEY_TTL_MS } from '../../idempotency-hashes.js'
import { parseOrderId } from '../../order-id.js'
import { applyCommand, erasesHistory } from '../../order-command.js'
import { formatOrderNumber } from '../../order-number.js'
import type { FieldChange, NewOrder, Order } from '../../order.js'
import {
  StoreUnwritableError,
  type ChangeResult,
  type CreateResult,
  type OrderStore,
  type ProviderOrderRef,
} from '../order-store.js'
import {
  findMailboxOrders,
  SELECT_EMAIL_CHANGES,
  SELECT_EMAILS,
  type EmailChangeRow,
  type EmailRow,
} from '../sql/mailbox-orders.js'
import {
  buildDeleteEvents,
  INSERT_EVENT,
  SELECT_EVENTS,
  toEvent,
  toEventValues,
  type EventRow,
} from '../sql/order-events.js'
import { createOrderFinder } from './find-orders.js'
import { foldSearchTexts } from './fold-search-texts.js'
import {
  addOrder,
  eraseEvents,
  eraseHistory,
  readHistory,
  readOrder,
  readOrders,
  replaceOrder,
} from './order-records.js'
import { findByProviderId, findOthers } from './provider-order-ids.js'
import { createRowCounts } from './row-counts.js'
import { checkTimeZone, setTimeZone } from './settings.js'
import { DIALECTS } from '../dialect.js'
import { createStatistics } from '../statistics.js'
import { addTotals } from '../totals.js'

interface Options {
  postgres: Postgres
  /** For connections from other threads */
  url: string
  timeZone: string
  log: FastifyBaseLogger
}

/** Several order numbers in a row may be taken by imported orders. */
const MAX_NUMBER_TRIES = 1_000

/**
 * Number of provider order IDs to read per result. Some IDs do not count, because they belong to
 * attempts that were reset.
 */
const CANDIDATES_PER_RESULT = 20

const createUnconfirmedProblem = (): Problem =>
  new Problem(
    503,
    "The order database did not respond, so we couldn't confirm that the change was saved. Check the order before you try again.",
    { headers: { 'retry-after': '5' } },
  )

/** A concurrent transaction may have changed the same data first. The caller retries. */
class WriteConflictError extends Error {}

interface Change {
  id: number
  version: number
  by: string
  at: string
  changes: FieldChange[]
}

/** Opens a migrated PostgreSQL database as an order store. */
export async function openPostgresOrderStore({
  postgres,
  url,
  timeZone,
  log,
}: Options): Promise<OrderStore> {
  await setTimeZone(postgres, timeZone)
  await foldSearchTexts(postgres)
  const calendar = createDayCalendar(timeZone)
  const counts = createRowCounts()
  const finder = createOrderFinder(calendar, counts)

  const { read, readSnapshot } = postgres

  const readStatistics = (tx: Queryable) => createStatistics(tx, calendar, DIALECTS.postgres)

  /** Runs a write; if its outcome is unknown, checks whether it was committed. */
  async function write<T>(
    work: (tx: Queryable) => Promise<T>,
    findCommitted: () => Promise<T | null>,
  ): Promise<T> {
    try {
      return await postgres.write(async (tx) => {
        await checkTimeZone(tx, timeZone)
        return work(tx)
      })
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) throw new StoreUnwritableError(error, true)
      if (!(error instanceof CommitUnknownError)) throw error
      log.error({ err: error }, 'the outcome of a change is unknown')
      const committed = await findCommitted().catch(() => undefined)
      if (committed === undefined) throw createUnconfirmedProblem()
      if (committed === null) throw new StoreUnwritableError(error, true)
      return committed
    }
  }

  /**
   * Stores an idempotency key and returns `null`. If the key already exists, returns the result of
   * the earlier request instead.
   */
  async function takeKey(
    tx: Queryable,
    key: string,
    request: string,
    now: number,
  ): Promise<CreateResult | null> {
    await tx.query('DELETE FROM idempotency_keys WHERE at < ?', [now - IDEMPOTENCY_KEY_TTL_MS])
    // Waits for a concurrent request with the same key. The ID of the order is set later.
    const taken = await tx.query(
      'INSERT INTO idempotency_keys VALUES (?, ?, 0, ?) ON CONFLICT DO NOTHING RETURNING key',
      [key, request, now],
    )
    if (taken.length > 0) return null
    const [known] = await tx.query<{ request: string; order_id: number }>(
      'SELECT request, order_id FROM idempotency_keys WHERE key = ?',
      [key],
    )
    // The key expired and was deleted between the two queries.
    if (known === undefined) throw new WriteConflictError()
    if (known.request !== request) return { outcome: 'idempotency_key_reused' }
    const order = await readOrder(tx, known.order_id)
    if (order === null)
      throw new Error(`The order of an idempotency key is missing: ${known.order_id}`)
    return { outcome: 'replayed', order }
  }

  async function createOnce(
    newOrder: NewOrder,
    by: string,
    key: string | null,
  ): Promise<CreateResult> {
    const request = hashOrder(newOrder)
    let sent: Order | null = null
    return write<CreateResult>(
      async (tx) => {
        sent = null
        const now = Date.now()
        const known = key === null ? null : await takeKey(tx, key, request, now)
        if (known !== null) return known
        const [numbers] = await tx.query<{ id: number; number: number }>(
          "SELECT nextval('order_ids') AS id, nextval('order_numbers') AS number",
        )
        if (numbers === undefined) throw new Error('PostgreSQL returned no order number')
        const { id, number } = numbers
        const order: Order = {
          id: String(id),
          orderNumber: formatOrderNumber(number),
          ...createFirstVersion(newOrder, new Date(now).toISOString()),
        }
        const totals = await addOrder(tx, calendar, order, by)
        await tx.query(INSERT_EVENT, toEventValues(null, order))
        if (key !== null) {
          await tx.query('UPDATE idempotency_keys SET order_id = ? WHERE key = ?', [id, key])
        }
        await addTotals(tx, totals)
        sent = order
        return { outcome: 'created', order }
      },
      async () => {
        const order = sent
        if (order === null) return null
        const found = await postgres.read((tx) => readOrder(tx, Number(order.id)))
        return found && { outcome: 'created', order }
      },
    )
  }

  const isRecorded = async (tx: Queryable, { id, version, by, at, changes }: Change) => {
    const rows = await tx.query(
      'SELECT 1 FROM changes WHERE order_id = ? AND version = ? AND by = ? AND at = ? AND changes = ?',
      [id, version, by, Date.parse(at), JSON.stringify(changes)],
    )
    return rows.length > 0
  }

  async function findOtherProviderOrders(
    tx: Queryable,
    excluded: string[],
    limit: number,
  ): Promise<ProviderOrderRef[]> {
    const found = new Map<string, ProviderOrderRef>()
    for (const ref of await findOthers(tx, excluded, limit * CANDIDATES_PER_RESULT)) {
      const { id, orderSourceId } = ref
      const isCurrent = (await readOrder(tx, id))?.orderSourceId === orderSourceId
      if (isCurrent || !isReset((await readHistory(tx, id)) ?? [], orderSourceId)) {
        found.set(`${id} ${orderSourceId}`, ref)
      }
      if (found.size === limit) break
    }
    return [...found.values()].sort(
      (a, b) => b.id - a.id || (a.orderSourceId < b.orderSourceId ? -1 : 1),
    )
  }

  return {
    source: { type: 'postgres', url },
    calendar,

    async get(id) {
      const key = parseOrderId(id)
      return key === null ? null : read((tx) => readOrder(tx, key))
    },
    async getHistory(id) {
      const key = parseOrderId(id)
      return key === null ? null : read((tx) => readHistory(tx, key))
    },
    list: (filters, slice) =>
      read(async (tx) => {
        const { ids, total } = await finder.find(tx, filters, slice)
        return { items: await readOrders(tx, ids), total }
      }),
    listCurrencies: () =>
      read(async (tx) => [...(await readStatistics(tx).countByCurrency()).keys()].sort()),
    readStatistics: (callback) => readSnapshot((tx) => callback(readStatistics(tx))),
    findByOrderSourceId: (orderSourceId) => read((tx) => findByProviderId(tx, orderSourceId)),
    findOtherProviderOrders: (excluded, limit) =>
      read((tx) => findOtherProviderOrders(tx, excluded, limit)),
    findByMailbox: (email) =>
      read((tx) =>
        findMailboxOrders(
          email,
          (mailbox) => tx.query<EmailRow>(SELECT_EMAILS, [mailbox]),
          () => tx.query<EmailChangeRow>(SELECT_EMAIL_CHANGES),
        ),
      ),

    async create(newOrder, by, idempotencyKey) {
      const key = idempotencyKey === undefined ? null : hashIdempotencyKey(idempotencyKey, by)
      for (let tries = 1; ; tries++) {
        try {
          return await createOnce(newOrder, by, key)
        } catch (error) {
          const isTaken = isDuplicate(error, 'orders_order_number_key')
          if (!(isTaken || error instanceof WriteConflictError) || tries === MAX_NUMBER_TRIES) {
            throw error
          }
        }
      }
    },
    async apply(id, command, { by, ifVersions }) {
      const key = parseOrderId(id)
      if (key === null) return { outcome: 'not_found' }
      let change: Change | null = null
      for (;;) {
        try {
          return await write<ChangeResult>(
            async (tx) => {
              change = null
              const before = await readOrder(tx, key)
              if (before === null) return { outcome: 'not_found' }
              if (ifVersions !== null && !ifVersions.includes(before.version)) {
                return { outcome: 'version_conflict', order: before }
              }
              const history = (await readHistory(tx, key)) ?? []
              const result = applyCommand(before, history, command, new Date().toISOString())
              if (result.outcome !== 'changed') return result
              const { order: after, changes } = result
              const totals = await replaceOrder(tx, calendar, { before, after, by, changes })
              if (totals === null) throw new WriteConflictError()
              await tx.query(INSERT_EVENT, toEventValues(before, after))
              if (erasesHistory(command)) await eraseHistory(tx, key)
              if (command.type === 'erase') await eraseEvents(tx, key)
              await addTotals(tx, totals)
              change = { id: key, version: after.version, by, at: after.updatedAt, changes }
              return result
            },
            async () => {
              const sent = change
              if (sent === null) return null
              return postgres.read(async (tx) => {
                if (!(await isRecorded(tx, sent))) return null
                const order = await readOrder(tx, key)
                return order && { outcome: 'changed' as const, order, changes: sent.changes }
              })
            },
          )
        } catch (error) {
          if (!(error instanceof WriteConflictError)) throw error
        }
      }
    },

    readEvents: (limit) =>
      read(async (tx) => (await tx.query<EventRow>(SELECT_EVENTS, [limit])).map(toEvent)),
    async deleteEvents(ids) {
      await postgres.query(buildDeleteEvents(ids), ids)
    },

    check: () => undefined,
    createErrorTranslator: () => (error) =>
      isUnavailable(error) ? createUnavailableError(error) : error,
    getFreshness: () => null,
    getReadiness: () => postgres.getReadiness(),
    close: async () => undefined,
  }
}
