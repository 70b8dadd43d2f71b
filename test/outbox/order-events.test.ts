import { join } from 'node:path'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { migratePostgres } from '../../src/database/postgres-migrations.js'
import { openPostgres } from '../../src/database/postgres.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import type { Database } from '../../src/database/database.js'
import type { OrderStore } from '../../src/order-store/order-store.js'
import { openPostgresOrderStore } from '../../src/order-store/postgres/postgres-order-store.js'
import { openSqliteOrderStore } from '../../src/order-store/sqlite/sqlite-order-store.js'
import { getEventTypes, type OrderEvent } from '../../src/orders/order-event.js'
import { createEventDispatcher } from '../../src/outbox/event-dispatcher.js'
import { temporaryFolder } from '../support/app.js'
import { newOrder } from '../support/order-store.js'
import { startPostgres } from '../support/postgres.js'

const { log } = Fastify()
const server = await startPostgres(t)

interface Opened {
  store: OrderStore
  database: Database
}

const engines: Record<string, (t: Test) => Promise<Opened>> = {
  async SQLite(t) {
    const path = join(temporaryFolder(t), 'orders.db')
    return {
      store: openSqliteOrderStore({ path, timeZone: 'UTC' }),
      database: openSqliteDatabase(path),
    }
  },
  async PostgreSQL() {
    const url = await server.createDatabase()
    const postgres = openPostgres(url, { poolSize: 4 })
    await migratePostgres(postgres)
    const store = await openPostgresOrderStore({ postgres, url, timeZone: 'UTC', log })
    return { store, database: postgres }
  },
}

for (const [engine, open] of Object.entries(engines)) {
  t.test(`${engine}: records every change of an order as an event, in order`, async (t) => {
    const { store, database } = await open(t)
    t.teardown(async () => {
      await store.close()
      await database.close()
    })
    const context = { by: 'ann@example.com', ifVersions: null }
    const created = await store.create(newOrder(), context.by, 'key')
    await store.create(newOrder(), context.by, 'key')
    if (!('order' in created)) throw new Error(created.outcome)
    const { id } = created.order
    const edit = (changes: object) => store.apply(id, { type: 'edit', changes }, context)
    await edit({ notes: 'called back' })
    await edit({ notes: 'called back' }) // changes nothing
    await edit({ status: 'paid' })
    await store.apply(id, { type: 'cancel' }, { ...context, ifVersions: [1] }) // a conflict
    await store.apply(id, { type: 'cancel' }, context)

    const seen: OrderEvent[] = []
    const dispatcher = createEventDispatcher(store, database)
    dispatcher.addConsumer(async (_tx, event) => void seen.push(event))
    await dispatcher.dispatch()
    t.same(
      seen.map((event) => [event.order.version, ...getEventTypes(event)]),
      [
        [1, 'order.created'],
        [2, 'order.updated'],
        [3, 'order.updated', 'order.paid'],
        [4, 'order.updated', 'order.cancelled'],
      ],
    )
    t.same(seen.at(-1)?.order, await store.get(id), 'an event has the whole order')
    await dispatcher.dispatch()
    t.equal(seen.length, 4, 'a processed event is gone')
  })

  t.test(`${engine}: an event that cannot be processed is processed later`, async (t) => {
    const { store, database } = await open(t)
    t.teardown(async () => {
      await store.close()
      await database.close()
    })
    await store.create(newOrder(), 'ann@example.com')
    let isBroken = true
    let seen = 0
    const dispatcher = createEventDispatcher(store, database)
    dispatcher.addConsumer(async () => {
      if (isBroken) throw new Error('not now')
      seen++
    })
    await t.rejects(dispatcher.dispatch(), { message: 'not now' })
    isBroken = false
    await dispatcher.dispatch()
    t.equal(seen, 1)
  })
}
