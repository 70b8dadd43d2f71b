import type { Database } from 'better-sqlite3'
import type { Queryable } from '../../../database/database.js'
import { toDatabaseError } from '../../../database/database-error.js'
import { isReset } from '../../attempt.js'
import { createFirstVersion } from '../../apply-changes.js'
import { hashIdempotencyKey, hashOrder } from '../../idempotency-hashes.js'
import { applyCommand, erasesHistory } from '../../order-command.js'
import { parseOrderId } from '../../order-id.js'
import type {
  ChangeResult,
  CreateResult,
  OrderList,
  OrderStore,
  ProviderOrderRef,
} from '../order-store.js'
import { createOrderFinder, isSlow, type FindResult } from './find-orders.js'
import { createIdempotencyKeys } from './idempotency-keys.js'
import { createOrderNumbers } from './order-numbers.js'
import { createOrderReader, createOrderWriter } from './order-records.js'
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
import { createProviderOrderLookup } from './provider-order-ids.js'
import { startSearchWorker } from './search-client.js'
import { DIALECTS } from '../dialect.js'
import { createStatistics } from '../statistics.js'
import { openTransactions, type DatabaseOptions } from './transactions.js'

/** Opens an order database as an order store. Throws DatabaseError. */
export function openSqliteOrderStore(options: DatabaseOptions): OrderStore {
  try {
    return createStore(options)
  } catch (error) {
    throw toDatabaseError(options.path, error)
  }
}

const toQueryable = (db: Database): Queryable => ({
  query: async <Row>(sql: string, values: readonly unknown[] = []) =>
    db.prepare<unknown[], Row>(sql).all(...values),
})

function createStore(options: DatabaseOptions): OrderStore {
  const { path, timeZone } = options
  const database = openTransactions(options)
  const { calendar, reader, writer, read, write, check, translateError } = database

  const orders = createOrderReader(reader)
  const finder = createOrderFinder(reader, calendar)
  const readStatistics = (db: Database) =>
    createStatistics(toQueryable(db), calendar, DIALECTS.sqlite)
  const providerOrders = createProviderOrderLookup(reader)

  const writableOrders = createOrderWriter(writer, calendar)
  const writableHistory = createOrderReader(writer)
  const orderNumbers = createOrderNumbers(writer)
  const idempotencyKeys = createIdempotencyKeys(writer)
  const insertEvent = writer.prepare<ReturnType<typeof toEventValues>>(INSERT_EVENT)
  const selectEvents = reader.prepare<[number], EventRow>(SELECT_EVENTS)
  const selectEmails = reader.prepare<[string], EmailRow>(SELECT_EMAILS)
  const selectEmailChanges = reader.prepare<[], EmailChangeRow>(SELECT_EMAIL_CHANGES)
  const highestId = writer.prepare<[], number>('SELECT coalesce(max(id), 0) FROM orders').pluck()
  const search = startSearchWorker(path, timeZone)

  function findOtherProviderOrders(excluded: string[], limit: number): ProviderOrderRef[] {
    const found = new Map<string, ProviderOrderRef>()
    for (const order of providerOrders.iterateOthers(excluded)) {
      const { id, orderSourceId } = order
      const isCurrent = orders.get(id)?.orderSourceId === orderSourceId
      if (isCurrent || !isReset(orders.getHistory(id) ?? [], orderSourceId)) {
        found.set(`${id} ${orderSourceId}`, order)
      }
      if (found.size === limit) break
    }
    return [...found.values()].sort(
      (a, b) => b.id - a.id || (a.orderSourceId < b.orderSourceId ? -1 : 1),
    )
  }

  return {
    source: { type: 'sqlite', path },
    calendar,

    async get(id) {
      const key = parseOrderId(id)
      return read(() => (key === null ? null : orders.get(key)))
    },
    async getHistory(id) {
      const key = parseOrderId(id)
      return read(() => (key === null ? null : orders.getHistory(key)))
    },
    async list(filters, slice) {
      const toList = ({ ids, total }: FindResult): OrderList => ({
        items: orders.getMany(ids),
        total,
      })
      if (!isSlow(filters)) return read(() => toList(finder.find(filters, slice)))
      check()
      const found = await search.find(filters, slice).catch((error: unknown) => {
        throw translateError(error)
      })
      return read(() => toList(found))
    },
    async listCurrencies() {
      check()
      return [...(await readStatistics(reader).countByCurrency()).keys()].sort()
    },
    readStatistics: (callback) => database.readSnapshot((db) => callback(readStatistics(db))),
    findByOrderSourceId: async (orderSourceId) =>
      read(() => providerOrders.findById(orderSourceId)),
    findOtherProviderOrders: async (excluded, limit) =>
      read(() => findOtherProviderOrders(excluded, limit)),
    findByMailbox: (email) =>
      findMailboxOrders(
        email,
        async (mailbox) => read(() => selectEmails.all(mailbox)),
        async () => read(() => selectEmailChanges.all()),
      ),

    create(newOrder, by, idempotencyKey) {
      const key = idempotencyKey === undefined ? null : hashIdempotencyKey(idempotencyKey, by)
      const request = hashOrder(newOrder)
      return write((): CreateResult => {
        const now = Date.now()
        idempotencyKeys.removeExpired(now)
        const known = key === null ? undefined : idempotencyKeys.find(key)
        if (known !== undefined && known.request !== request) {
          return { outcome: 'idempotency_key_reused' }
        }
        const existing = known === undefined ? null : writableOrders.get(known.order_id)
        if (existing !== null) return { outcome: 'replayed', order: existing }
        const id = (highestId.get() ?? 0) + 1
        const order = {
          id: String(id),
          orderNumber: orderNumbers.next(),
          ...createFirstVersion(newOrder, new Date(now).toISOString()),
        }
        writableOrders.add(order, by)
        insertEvent.run(...toEventValues(null, order))
        if (key !== null) idempotencyKeys.add(key, { request, order_id: id }, now)
        return { outcome: 'created', order }
      })
    },
    async apply(id, command, { by, ifVersions }) {
      const key = parseOrderId(id)
      if (key === null) return { outcome: 'not_found' }
      return write((): ChangeResult => {
        const order = writableOrders.get(key)
        if (order === null) return { outcome: 'not_found' }
        if (ifVersions !== null && !ifVersions.includes(order.version)) {
          return { outcome: 'version_conflict', order }
        }
        const history = writableHistory.getHistory(key) ?? []
        const result = applyCommand(order, history, command, new Date().toISOString())
        if (result.outcome === 'changed') {
          writableOrders.replace(order, result.order, by, result.changes)
          insertEvent.run(...toEventValues(order, result.order))
          if (erasesHistory(command)) writableOrders.eraseHistory(key)
          if (command.type === 'erase') writableOrders.eraseEvents(key)
        }
        return result
      })
    },

    readEvents: async (limit) => read(() => selectEvents.all(limit).map(toEvent)),
    deleteEvents: (ids) =>
      write(() => void writer.prepare<number[]>(buildDeleteEvents(ids)).run(...ids)),

    check: () => read(() => undefined),
    createErrorTranslator: () => translateError,
    getFreshness: () => null,
    async getReadiness() {
      read(() => undefined)
      const writeError = database.describeWriteError()
      return writeError === null
        ? { ready: true, detail: 'the order database is readable' }
        : { ready: false, detail: `the order database cannot be written to: ${writeError}` }
    },
    async close() {
      await search.close()
      await database.close()
    },
  }
}
