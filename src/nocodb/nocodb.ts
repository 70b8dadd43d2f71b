import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { OrderStore } from '../orders/store/order-store.js'
import { claimDatabase, rejectMirror } from './mirror-state.js'
import { Mirror } from './mirror.js'
import { createNocoDbClient } from './nocodb-client.js'
import { getNocoDbSettings } from './nocodb-config.js'
import { OrderWrites } from './order-writes.js'
import { createOrdersTable } from './orders-table.js'
import { RowWriter } from './row-writer.js'
import { SyncLoop } from './sync-loop.js'
import { SyncState } from './sync-state.js'

/** Where earlier versions of Clearwake kept the orders. */
const REPLICA = 'replica.db'

/**
 * If NocoDB is configured, returns a store for the orders in NocoDB, which `store` mirrors: it reads
 * from `store`, so reads do not need NocoDB, and writes to NocoDB first. Throws DatabaseError if the
 * database has other orders.
 */
export async function connectToNocoDb(
  store: OrderStore,
  app: Pick<FastifyInstance, 'config' | 'database' | 'log' | 'addHook'>,
): Promise<OrderStore> {
  const { config, database, log } = app
  const settings = getNocoDbSettings(config)
  if (settings === null) {
    await rejectMirror(database)
    return store
  }
  await claimDatabase(database, settings)
  const replica = join(config.DATA_DIR, REPLICA)
  if (existsSync(replica)) {
    log.info({ path: replica }, 'this file of an earlier version is no longer used; delete it')
  }
  const { baseId, tableId, titles, syncIntervalMs } = settings
  const client = createNocoDbClient(settings)
  const mirror = new Mirror(database, store.calendar, titles)
  const table = createOrdersTable(client, { baseId, tableId, titles, now: mirror.now })
  const state = new SyncState(database, syncIntervalMs)
  await state.refresh()
  const writes = new OrderWrites(new RowWriter(table, mirror), state, log)
  const sync = new SyncLoop({
    table,
    mirror,
    state,
    recordEdit: writes.recordEdit,
    getPauseMs: client.getPauseMs,
    log,
  })
  app.addHook('onReady', async () => sync.start())

  async function read<T>(query: () => Promise<T>): Promise<T> {
    state.requireLoaded()
    return query()
  }

  return {
    ...store,
    check() {
      state.requireLoaded()
      store.check()
    },
    getFreshness: () => state.getFreshness(),
    async getReadiness() {
      const readiness = await store.getReadiness()
      return readiness.ready ? state.getReadiness() : readiness
    },
    get: (id) => read(() => store.get(id)),
    getHistory: (id, tx) => read(() => store.getHistory(id, tx)),
    findByOrderSourceId: (sourceId) => read(() => store.findByOrderSourceId(sourceId)),
    findOtherProviderOrders: (excluded, limit) =>
      read(() => store.findOtherProviderOrders(excluded, limit)),
    findByMailbox: (email) => read(() => store.findByMailbox(email)),
    list: (filters, slice) => read(() => store.list(filters, slice)),
    readStatistics: (query) => read(() => store.readStatistics(query)),
    create: (order, by, idempotencyKey) => writes.create(order, by, idempotencyKey),
    apply: (id, command, context) => writes.apply(id, command, context),
    async close() {
      await client.close()
      await sync.stop()
      await store.close()
    },
  }
}
