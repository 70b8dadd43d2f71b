import { join } from 'node:path'
import Fastify from 'fastify'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { DatabaseUnavailableError, type Database } from '../../src/database/database.js'
import { migratePostgres } from '../../src/database/migrations.js'
import { openPostgres } from '../../src/database/postgres.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import { getEventTypes, type OrderEvent } from '../../src/orders/order-event.js'
import {
  createEventDispatcher,
  EVENT_QUEUE,
} from '../../src/orders/order-events/event-dispatcher.js'
import type { OrderStore } from '../../src/orders/store/order-store.js'
import { enqueueMessage, requeueMessage } from '../../src/outbox/messages.js'
import { createOutboxWorker } from '../../src/outbox/outbox.js'
import { getMessage, listMessages } from '../../src/outbox/read-messages.js'
import { temporaryFolder } from '../support/app.js'
import { newOrder } from '../support/order-store.js'
import { startTwoAdmins } from '../support/page-client.js'
import { startPostgres } from '../support/postgres.js'
import { openFileStore, openPostgresStore } from '../support/stores.js'
import { waitFor } from '../support/wait-for.js'
import { startReceiver } from '../support/webhook-receiver.js'

const { log } = Fastify()
const server = await startPostgres(t)

const engines: Record<string, () => Promise<{ store: OrderStore; database: Database }>> = {
  async SQLite() {
    const path = join(temporaryFolder(t), 'orders.db')
    return {
      store: await openFileStore({ path, timeZone: 'UTC' }),
      database: openSqliteDatabase(path),
    }
  },
  async PostgreSQL() {
    const url = await server.createDatabase()
    const postgres = openPostgres(url, { poolSize: 4 })
    await migratePostgres(postgres)
    const store = await openPostgresStore(postgres, url, 'UTC')
    return { store, database: postgres }
  },
}

for (const [engine, openEngine] of Object.entries(engines)) {
  const open = async (t: Test) => {
    const { store, database } = await openEngine()
    t.teardown(async () => {
      await store.close()
      await database.close()
    })
    return { store, database }
  }

  t.test(`${engine}: records every change of an order as an event, in order`, async (t) => {
    const { store, database } = await open(t)
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
    const dispatcher = createEventDispatcher(store, database, log)
    dispatcher.addConsumer('test', async (_tx, event) => void seen.push(event))
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

  t.test(`${engine}: an event that one consumer cannot process stops nothing else`, async (t) => {
    const { store, database } = await open(t)
    const by = 'ann@example.com'
    for (const customerName of ['Poison', 'Ben', 'Cem']) {
      await store.create(newOrder({ customerName }), by)
    }
    const seen: Record<'mail' | 'webhooks', string[]> = { mail: [], webhooks: [] }
    let isBroken = true
    const dispatcher = createEventDispatcher(store, database, log)
    dispatcher.addConsumer('mail', async (tx, { order }) => {
      await enqueueMessage(tx, {
        id: `mail ${order.id}`,
        queue: 'mail',
        sequence: order.id,
        type: 'order.created',
        orderId: order.id,
        payload: null,
      })
      if (order.customerName === 'Poison' && isBroken) throw new Error('not now')
      seen.mail.push(order.customerName)
    })
    dispatcher.addConsumer('webhooks', async (_tx, { order }) => {
      seen.webhooks.push(order.customerName)
    })
    await dispatcher.dispatch()
    t.same(new Set(seen.mail), new Set(['Ben', 'Cem']))
    t.same(new Set(seen.webhooks), new Set(['Poison', 'Ben', 'Cem']))
    t.equal(await getMessage(database, 'mail 1'), null, 'half of a transaction is undone')
    t.equal((await getMessage(database, 'mail 3'))?.state, 'pending')
    const before = seen.webhooks.length
    await dispatcher.dispatch()
    t.equal(seen.webhooks.length, before, 'a processed event is gone')
    t.match(await dispatcher.getReadiness(), { ready: true, degraded: true })

    // Retried with back-off, then given up.
    const metrics = new Registry()
    const worker = createOutboxWorker(database, log, metrics)
    worker.addSender(dispatcher.sender)
    const getAside = async () => {
      const [message] = await listMessages(database, EVENT_QUEUE, { limit: 2, offset: 0 })
      return message
    }
    const retry = async () => {
      const attempts = (await getAside())?.attempts ?? 0
      await database.query(
        "UPDATE outbox SET next_attempt_at = 0 WHERE queue = 'event' AND state = 'pending'",
      )
      await worker.sendDue()
      await waitFor(async () => ((await getAside())?.attempts ?? 0) > attempts)
    }
    t.match(await getAside(), { type: 'mail', orderId: '1', state: 'pending', attempts: 0 })
    await retry()
    const first = await getAside()
    await retry()
    const second = await getAside()
    t.ok(second && first && second.nextAttemptAt - first.nextAttemptAt > 60_000, 'backs off')
    while ((await getAside())?.state === 'pending') await retry()
    t.equal((await getAside())?.state, 'failed')
    t.match(await dispatcher.getReadiness(), { ready: true, degraded: true })
    t.match(
      await metrics.metrics(),
      'clearwake_message_attempts_total{queue="event",outcome="failed"} 1',
    )

    isBroken = false
    await requeueMessage(database, (await getAside())?.id ?? '')
    await retry()
    t.equal((await getAside())?.state, 'sent')
    t.ok(seen.mail.includes('Poison'))
    t.match(await dispatcher.getReadiness(), { degraded: false })
    await worker.close()
  })

  t.test(
    `${engine}: an event that is set aside has no personal data after an erasure`,
    async (t) => {
      const { store, database } = await open(t)
      const context = { by: 'ann@example.com', ifVersions: null }
      await store.create(newOrder({ customerName: 'Ann Example' }), context.by)
      const dispatcher = createEventDispatcher(store, database, log)
      dispatcher.addConsumer('mail', async (_tx, { order }) => {
        if (order.version === 1) throw new Error('never')
      })
      await dispatcher.dispatch()
      await store.apply('1', { type: 'erase' }, context)
      await dispatcher.dispatch()
      const [message] = await listMessages(database, EVENT_QUEUE, { limit: 2, offset: 0 })
      t.match(message, {
        state: 'pending',
        payload: { order: { id: '1', customerName: 'Erased' } },
      })
    },
  )

  t.test(`${engine}: of several processes, one passes events on`, async (t) => {
    const { store, database } = await open(t)
    const seen: string[] = []
    const startProcess = (name: string) => {
      const dispatcher = createEventDispatcher(store, database, log)
      dispatcher.addConsumer('test', async (_tx, { order }) => {
        seen.push(`${name} ${order.id}`)
      })
      return dispatcher
    }
    const [first, second] = [startProcess('first'), startProcess('second')]
    await store.create(newOrder(), 'ann@example.com')
    await Promise.all([first.dispatch(), second.dispatch()])
    t.equal(seen.length, 1)
    await database.query("UPDATE leases SET holder = 'ended process' WHERE name = 'events'")
    await store.create(newOrder(), 'ann@example.com')
    await waitFor(async () => {
      await second.dispatch()
      return seen.length === 2
    })
    t.equal(seen[1], 'second 2', 'another process takes over')
  })

  t.test(`${engine}: while the database fails, no event is lost`, async (t) => {
    const { store, database } = await open(t)
    await store.create(newOrder(), 'ann@example.com')
    let isDown = true
    let seen = 0
    const write: Database['write'] = (work) =>
      isDown ? Promise.reject(new DatabaseUnavailableError('down', {})) : database.write(work)
    const dispatcher = createEventDispatcher(store, { ...database, write }, log)
    dispatcher.addConsumer('mail', async () => {
      seen++
    })
    await t.rejects(dispatcher.dispatch(), { message: 'down' })
    isDown = false
    await dispatcher.dispatch()
    t.equal(seen, 1)
  })
}

t.test('two consumers cannot have the same name', async (t) => {
  const { app } = await startTwoAdmins(t)
  t.throws(() => app.events.addConsumer('webhooks', async () => undefined), /named webhooks/)
  t.throws(() => app.events.project('webhooks', async () => undefined), /named webhooks/)
})

t.test(
  'an event that is set aside is shown to administrators, and can be tried again',
  async (t) => {
    const receiver = await startReceiver(t)
    const { ann, app, url } = await startTwoAdmins(t, { WEBHOOK_ALLOW_LOOPBACK: 'true' })
    await ann.call('POST', '/api/admin/webhooks', { url: receiver.url, events: ['order.created'] })
    await app.database.query(
      `CREATE TRIGGER poison BEFORE INSERT ON outbox
     WHEN new.queue LIKE 'webhook:%' AND new.order_id = '1'
     BEGIN SELECT RAISE(ABORT, 'poison'); END`,
    )
    await ann.call('POST', '/api/admin/orders', newOrder())
    await ann.call('POST', '/api/admin/orders', newOrder())
    await waitFor(async () => receiver.received().length > 0)
    t.same(
      receiver.received().map(({ event }) => event.data.id),
      ['2'],
    )
    const readyz = async () => {
      const response = await fetch(`${url}/readyz`)
      return { status: response.status, body: await response.json() }
    }
    t.match(await readyz(), {
      status: 200,
      body: { status: 'degraded', checks: { events: { ready: true, detail: 'not processed: 1' } } },
    })
    t.match((await ann.get('/admin')).text, /could not be processed.*<strong>1<\/strong>/s)
    const { text } = await ann.get('/admin/settings/events')
    t.match(text, /Webhooks.*CW-000001/s)
    const [, action = ''] = /action="([^"]+)" method="post"><button[^>]*>Try again/.exec(text) ?? []
    await app.database.query('DROP TRIGGER poison')
    t.equal((await ann.post(action, {})).headers.get('location'), '/admin/settings/events')
    await waitFor(async () => receiver.received().length === 2)
    t.match((await ann.get('/admin/settings/events')).text, 'There are none.')
    t.match(await readyz(), { status: 200, body: { status: 'ready' } })
    t.equal((await ann.post('/admin/settings/events/msg_1/retry', {})).status, 404)
  },
)
