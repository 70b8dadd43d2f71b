import type { FastifyBaseLogger } from 'fastify'
import { createDayCalendar } from '../../core/formatting/day-calendar.js'
import { Problem } from '../../core/http/problem.js'
import {
  CommitUnknownError,
  DatabaseUnavailableError,
  type Database,
  type Queryable,
} from '../../database/database.js'
import { isDuplicate } from '../../database/postgres.js'
import type { DatabaseSource } from '../../database/stream-rows.js'
import { createFirstVersion } from '../change-order.js'
import {
  applyCommand,
  erasesHistory,
  hashIdempotencyKey,
  hashOrder,
  IDEMPOTENCY_KEY_TTL_MS,
  type OrderCommand,
} from '../order-command.js'
import { formatOrderNumber, parseOrderId, type NewOrder, type Order } from '../order.js'
import { DIALECTS, type Dialect } from './dialect.js'
import { OrderFinder } from './find-orders.js'
import {
  findByProviderId,
  findMailboxOrders,
  findOtherProviderOrders,
  listCurrencies,
} from './look-up-orders.js'
import {
  addEvent,
  addMany,
  deleteEvents,
  eraseEvents,
  eraseHistory,
  readEvents,
  readHistory,
  readOrder,
  readOrders,
  replace,
} from './order-records.js'
import {
  StoreUnwritableError,
  type ChangeContext,
  type ChangeResult,
  type CreateResult,
  type OrderStore,
} from './order-store.js'
import { searchOrders } from './search-orders.js'
import { toSearchWords } from './search-text.js'
import { toWord } from './search-words.js'
import { createStatistics } from './statistics.js'
import { checkTimeZone, foldSearchTexts, setTimeZone } from './store-settings.js'
import { addTotals, TotalsSum } from './totals.js'

/** A concurrent transaction may have changed the same data first. The caller retries. */
class WriteConflictError extends Error {}

/** Takes the next ID, and the next order number that no imported order has. */
async function takeNumbers(
  tx: Queryable,
  dialect: Dialect,
): Promise<{ id: number; orderNumber: string }> {
  for (;;) {
    const [next] = await tx.query<{ id: number; number: number }>(dialect.next)
    if (next === undefined) throw new Error('The database returned no order number')
    const orderNumber = formatOrderNumber(next.number)
    const taken = await tx.query('SELECT 1 FROM orders WHERE order_number = ?', [orderNumber])
    if (taken.length === 0) return { id: next.id, orderNumber }
  }
}

/**
 * Stores an idempotency key and returns `null`. If the key already exists, returns the result of the
 * earlier request instead.
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
  if (order === null) {
    throw new Error(`The order of an idempotency key is missing: ${known.order_id}`)
  }
  return { outcome: 'replayed', order }
}

/**
 * Creates an order with its event, in the caller's transaction. Throws WriteConflictError.
 *
 * @param key hash of the idempotency key; `null` without one
 */
async function createOrder(
  tx: Queryable,
  dialect: Dialect,
  { newOrder, by, key }: { newOrder: NewOrder; by: string; key: string | null },
  totals: TotalsSum,
): Promise<CreateResult> {
  const now = Date.now()
  const known = key === null ? null : await takeKey(tx, key, hashOrder(newOrder), now)
  if (known !== null) return known
  const { id, orderNumber } = await takeNumbers(tx, dialect)
  const order: Order = {
    id: String(id),
    orderNumber,
    ...createFirstVersion(newOrder, new Date(now).toISOString()),
  }
  await addMany(tx, dialect, [{ order, by, history: [] }], totals)
  await addEvent(tx, null, order)
  if (key !== null) {
    await tx.query('UPDATE idempotency_keys SET order_id = ? WHERE key = ?', [id, key])
  }
  await addTotals(tx, totals)
  return { outcome: 'created', order }
}

interface Options {
  /** Migrated; the store does not close it */
  database: Database
  /** The same database, for connections from other threads */
  source: DatabaseSource
  timeZone: string
  log: Pick<FastifyBaseLogger, 'error'>
}

/** A new order may have to be numbered again, because an import took its number. */
const MAX_TRIES = 100

const createUnconfirmedProblem = (): Problem =>
  new Problem(
    503,
    "The order database did not respond, so we couldn't confirm that the change was saved. Check the order before you try again.",
    { headers: { 'retry-after': '5' } },
  )

/** Retries work that failed because another transaction was faster. */
async function retryConflicts<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1; tries < MAX_TRIES; tries++) {
    try {
      return await work()
    } catch (error) {
      const isTaken = ['orders_order_number_key', 'orders_pkey'].some((constraint) =>
        isDuplicate(error, constraint),
      )
      if (!isTaken && !(error instanceof WriteConflictError)) throw error
    }
  }
  return work()
}

/** Opens the orders of a database. Counts totals and folds search texts again if necessary. */
export async function openOrderStore({
  database,
  source,
  timeZone,
  log,
}: Options): Promise<OrderStore> {
  await setTimeZone(database, timeZone)
  await foldSearchTexts(database)
  const calendar = createDayCalendar(timeZone)
  const dialect = DIALECTS[database.engine]
  const finder = new OrderFinder(dialect, calendar)

  /** Reads by days, which must be those of the configured time zone. */
  const read = <T>(work: (tx: Queryable) => Promise<T>): Promise<T> =>
    database.read(async (tx) => {
      await checkTimeZone(tx, timeZone)
      return work(tx)
    })

  /**
   * Runs a transaction that writes. If its outcome is unknown, `isCommitted` finds out. Throws
   * StoreUnwritableError.
   */
  async function write<T>(
    work: (tx: Queryable, totals: TotalsSum) => Promise<T>,
    isCommitted: (tx: Queryable, result: T) => Promise<boolean>,
  ): Promise<T> {
    const results: T[] = []
    try {
      return await database.write(async (tx) => {
        await checkTimeZone(tx, timeZone)
        const result = await work(tx, new TotalsSum(calendar))
        results.push(result)
        return result
      })
    } catch (error) {
      if (error instanceof DatabaseUnavailableError) {
        throw new StoreUnwritableError(error.cause ?? error, error.isTemporary)
      }
      const [result] = results.slice(-1)
      if (!(error instanceof CommitUnknownError) || result === undefined) throw error
      log.error({ err: error }, 'the outcome of a change is unknown')
      const committed = await read((tx) => isCommitted(tx, result)).catch(() => null)
      if (committed === null) throw createUnconfirmedProblem()
      if (!committed) throw new StoreUnwritableError(error, true)
      return result
    }
  }

  async function applyTo(
    tx: Queryable,
    id: number,
    command: OrderCommand,
    { by, ifVersions }: ChangeContext,
    totals: TotalsSum,
  ): Promise<ChangeResult> {
    const before = await readOrder(tx, id)
    if (before === null) return { outcome: 'not_found' }
    if (ifVersions !== null && !ifVersions.includes(before.version)) {
      return { outcome: 'version_conflict', order: before }
    }
    const history = (await readHistory(tx, id)) ?? []
    const result = applyCommand(before, history, command, new Date().toISOString())
    if (result.outcome !== 'changed') return result
    const { order: after, changes } = result
    if (!(await replace(tx, dialect, { before, after, by, changes }, totals))) {
      throw new WriteConflictError()
    }
    await addEvent(tx, before, after)
    if (erasesHistory(command)) await eraseHistory(tx, id)
    if (command.type === 'erase') await eraseEvents(tx, after.id)
    await addTotals(tx, totals)
    return result
  }

  /** Whether the history contains a change. */
  async function isRecorded(tx: Queryable, result: ChangeResult, by: string): Promise<boolean> {
    if (result.outcome !== 'changed') return true
    const { order, changes } = result
    const rows = await tx.query(
      'SELECT 1 FROM changes WHERE order_id = ? AND version = ? AND by = ? AND at = ? AND changes = ?',
      [Number(order.id), order.version, by, Date.parse(order.updatedAt), JSON.stringify(changes)],
    )
    return rows.length > 0
  }

  return {
    source,
    calendar,

    async get(id) {
      const key = parseOrderId(id)
      return key === null ? null : readOrder(database, key)
    },
    async getHistory(id, tx) {
      const key = parseOrderId(id)
      if (key === null) return null
      return tx ? readHistory(tx, key) : database.read((own) => readHistory(own, key))
    },
    list: (filters, slice) =>
      read(async (tx) => {
        const words = toSearchWords(filters.q).map(toWord)
        const { ids, ...total } =
          words.length === 0
            ? await finder.find(tx, filters, slice)
            : await searchOrders(tx, finder, words, filters, slice)
        const items = await readOrders(tx, dialect, ids)
        // A page that is not full shows where the list ends.
        const isEnd = ids.length < slice.limit && (ids.length > 0 || slice.offset === 0)
        return isEnd
          ? { items, total: slice.offset + ids.length, isTotalExact: true }
          : { items, ...total }
      }),
    listCurrencies: () => read(listCurrencies),
    readStatistics: (callback) =>
      database.readSnapshot(async (tx) => {
        await checkTimeZone(tx, timeZone)
        return callback(createStatistics(tx, calendar, dialect))
      }),
    findByOrderSourceId: (orderSourceId) => findByProviderId(database, dialect, orderSourceId),
    findOtherProviderOrders: (excluded, limit) =>
      database.read((tx) => findOtherProviderOrders(tx, dialect, excluded, limit)),
    findByMailbox: (email) => database.read((tx) => findMailboxOrders(tx, email)),

    create(newOrder, by, idempotencyKey) {
      const key = idempotencyKey === undefined ? null : hashIdempotencyKey(idempotencyKey, by)
      return retryConflicts(() =>
        write(
          (tx, totals) => createOrder(tx, dialect, { newOrder, by, key }, totals),
          async (tx, result) =>
            result.outcome !== 'created' || (await readOrder(tx, Number(result.order.id))) !== null,
        ),
      )
    },
    async apply(id, command, context) {
      const key = parseOrderId(id)
      if (key === null) return { outcome: 'not_found' }
      return retryConflicts(() =>
        write(
          (tx, totals) => applyTo(tx, key, command, context, totals),
          (tx, result) => isRecorded(tx, result, context.by),
        ),
      )
    },

    readEvents: (limit) => readEvents(database, limit),
    deleteEvents: (ids) => deleteEvents(database, ids),

    check: () => database.check(),
    translateError: (error) => database.translateError(error),
    getFreshness: () => null,
    async getReadiness() {
      const readiness = await database.getReadiness()
      if (readiness.ready) await read(async () => undefined)
      return readiness
    },
    close: async () => undefined,
  }
}
