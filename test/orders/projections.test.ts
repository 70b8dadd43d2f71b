import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { createDayCalendar } from '../../src/core/formatting/day-calendar.js'
import type { Database, Queryable } from '../../src/database/database.js'
import { openServiceDatabase } from '../../src/database/database-plugin.js'
import { DEFAULT_TITLES } from '../../src/nocodb/columns.js'
import { claimDatabase } from '../../src/nocodb/mirror-state.js'
import { Mirror } from '../../src/nocodb/mirror.js'
import { createEventDispatcher } from '../../src/orders/order-events/event-dispatcher.js'
import { importMany, StagedOrders } from '../../src/orders/store/import-many.js'
import { createProjections, type Projection } from '../../src/orders/store/projections.js'
import type { OrderStore } from '../../src/orders/store/order-store.js'
import { startApp, temporaryFolder } from '../support/app.js'
import { GOOD_ROW } from '../support/nocodb-service.js'
import { newOrder } from '../support/order-store.js'
import { typicalOrders } from '../support/orders.js'
import { startPostgres } from '../support/postgres.js'
import { openFileStore, openPostgresStore } from '../support/stores.js'
import { waitFor } from '../support/wait-for.js'

const { log } = Fastify()
const server = await startPostgres(t)
const NAME = 'notes'
const CONTEXT = { by: 'ann@example.com', ifVersions: null }

/** A feature that keeps the notes of orders. */
const createTable = (database: Database) =>
  database.query(`CREATE TABLE order_notes (
    order_id BIGINT PRIMARY KEY REFERENCES orders (id) ON DELETE CASCADE,
    notes TEXT NOT NULL,
    version INTEGER NOT NULL
  )`)

const project: Projection = (tx, { id, notes, version }) =>
  tx.query(
    `INSERT INTO order_notes VALUES (?, ?, ?)
     ON CONFLICT (order_id) DO UPDATE SET notes = excluded.notes, version = excluded.version`,
    [Number(id), notes, version],
  )

const readNotes = async (tx: Queryable): Promise<string[]> =>
  (
    await tx.query<{ row: string }>(
      "SELECT order_id || ' ' || notes AS row FROM order_notes ORDER BY order_id",
    )
  ).map(({ row }) => row)

/** Imports orders with these IDs; their notes are `imported`. */
async function importOrders(database: Database, ids: readonly (number | null)[]): Promise<void> {
  const staged = new StagedOrders()
  const [order] = typicalOrders(1)
  if (order === undefined) throw new Error('no order')
  for (const [line, id] of ids.entries()) {
    const imported = { ...order, id: id === null ? null : String(id), orderNumber: null }
    staged.claim(line, imported.id, null)
    staged.add({ order: { ...imported, notes: 'imported' }, by: 'import', history: [] })
  }
  const { total } = await importMany(database, staged, { maxConflicts: 1 })
  if (total > 0) throw new Error('conflicts')
}

const engines = {
  SQLite: async (t: Test) => ({ DATA_DIR: temporaryFolder(t) }),
  PostgreSQL: async (t: Test) => ({
    DATA_DIR: temporaryFolder(t),
    DATABASE_URL: await server.createDatabase(),
  }),
}

for (const [engine, createEnvironment] of Object.entries(engines)) {
  /** Opens a database as two processes do, with a table for the projection. */
  async function open(t: Test) {
    const settings: { DATA_DIR: string; DATABASE_URL?: string } = await createEnvironment(t)
    const { DATABASE_URL: url } = settings
    const connect = async () => {
      const database = await openServiceDatabase({ ...settings, DATABASE_POOL_SIZE: 4 })
      const store =
        url === undefined
          ? await openFileStore({ path: join(settings.DATA_DIR, 'orders.db'), timeZone: 'UTC' })
          : await openPostgresStore(database, url)
      t.teardown(async () => {
        if (url === undefined) await store.close()
        await database.close()
      })
      const projections = createProjections(database)
      const dispatcher = createEventDispatcher(store, database, log)
      dispatcher.addConsumer(NAME, (tx, { order }) =>
        projections.projectOrder(tx, order.id, project),
      )
      return {
        database,
        store,
        projections,
        dispatcher,
        walk: () => projections.walk(NAME, project),
      }
    }
    const first = await connect()
    await createTable(first.database)
    return { ...first, connect }
  }

  const edit = (store: OrderStore, id: string, notes: string) =>
    store.apply(id, { type: 'edit', changes: { notes } }, CONTEXT)

  t.test(`${engine}: a new projection has all orders, then every change and import`, async (t) => {
    const { database, store, dispatcher, projections, walk } = await open(t)
    await importOrders(database, [200, 201])
    await store.create(newOrder({ notes: 'created' }), 'ann')
    await dispatcher.dispatch()
    t.same(await readNotes(database), ['202 created'])
    await t.rejects(projections.check(NAME), { message: /All orders are being read/ })
    await walk()
    await projections.check(NAME)
    await store.create(newOrder({ notes: 'created' }), 'ann')
    await projections.check(NAME)
    t.same(await readNotes(database), ['200 imported', '201 imported', '202 created'])

    await edit(store, '200', 'edited')
    await dispatcher.dispatch()
    t.match(await readNotes(database), ['200 edited'])

    // Below, between and above the orders that are projected already.
    await importOrders(database, [null, 7, 300, ...Array.from({ length: 150 }, (_, i) => 10 + i)])
    await walk()
    t.equal((await readNotes(database)).length, 157)
    t.match(await readNotes(database), ['7 imported', '10 imported'])
  })

  t.test(`${engine}: an event that arrives late does not overwrite a later version`, async (t) => {
    const { database, store, dispatcher } = await open(t)
    await store.create(newOrder({ notes: 'first' }), 'ann')
    const [late] = await store.readEvents(1)
    await edit(store, '1', 'second')
    await dispatcher.dispatch()
    await database.query(
      'INSERT INTO order_events (at, previous_status, order_data) VALUES (0, NULL, ?)',
      [JSON.stringify(late?.order)],
    )
    await dispatcher.dispatch()
    t.same(await readNotes(database), ['1 second'])
  })

  t.test(`${engine}: two processes project what others write at the same time`, async (t) => {
    const { connect, ...first } = await open(t)
    const second = await connect()
    const ids = Array.from({ length: 120 }, (_, i) => 1_000 + i)
    await importOrders(first.database, ids)
    let isWriting = true
    const follow = async ({ dispatcher, walk }: typeof second) => {
      while (isWriting) {
        await Promise.all([dispatcher.dispatch(), walk()])
        await setImmediate()
      }
      await dispatcher.dispatch()
      await walk()
    }
    const following = Promise.all([follow(first), follow(second)])
    for (let round = 1; round <= 4; round++) {
      await importOrders(second.database, [round * 100, round * 100 + 1, null])
      for (const id of ['1003', '1050', '1110']) {
        await Promise.all([edit(first.store, id, `a${round}`), edit(second.store, id, `b${round}`)])
      }
    }
    isWriting = false
    await following
    t.same(
      await first.database.query('SELECT order_id, notes, version FROM order_notes ORDER BY 1'),
      await first.database.query('SELECT id AS order_id, notes, version FROM orders ORDER BY 1'),
    )
  })

  t.test(`${engine}: an order that fails stops only the walk`, async (t) => {
    const { database, store, projections, dispatcher, walk } = await open(t)
    await importOrders(database, [1, 2])
    const failing: Projection = async (tx, order) => {
      if (order.id === '2') throw new Error('not now')
      await project(tx, order)
    }
    await t.rejects(projections.walk(NAME, failing), { message: 'not now' })
    t.same(await readNotes(database), [], 'a batch is one transaction')
    await edit(store, '1', 'edited')
    await dispatcher.dispatch()
    t.same(await readNotes(database), ['1 edited'])
    await walk()
    t.same(await readNotes(database), ['1 edited', '2 imported'])
  })

  t.test(`${engine}: a feature that was off projects all orders again`, async (t) => {
    const { database, store, projections, walk } = await open(t)
    await store.create(newOrder(), 'ann')
    await walk()
    await projections.forgetOthers([NAME])
    await edit(store, '1', 'edited')
    await walk()
    t.same(await readNotes(database), ['1 '])
    await projections.forgetOthers([])
    await walk()
    t.same(await readNotes(database), ['1 edited'])
  })

  t.test(
    `${engine}: orders of NocoDB are projected when they are loaded or read again`,
    async (t) => {
      const { database, dispatcher, walk } = await open(t)
      const titles = DEFAULT_TITLES
      await claimDatabase(database, { baseId: 'b', tableId: 't', titles })
      const mirror = new Mirror(database, createDayCalendar('UTC'), titles)
      const save = async (Id: number, Notes: string, isLoaded = false) =>
        mirror.upsert(
          {
            rows: [{ ...GOOD_ROW, Id, PlacedAt: '2026-11-20 09:30:00+00:00', Notes }],
            requestedAt: await mirror.now(),
          },
          isLoaded ? { loaded: 'yes' } : {},
        )
      await save(5, 'new')
      await walk()
      await save(2, 'loaded', true)
      await walk()
      t.same(await readNotes(database), ['2 loaded', '5 new'])
      await save(5, 'edited')
      await dispatcher.dispatch()
      await walk()
      t.same(await readNotes(database), ['2 loaded', '5 edited'])
      await mirror.delete([2], await mirror.now())
      t.same(await readNotes(database), ['5 edited'], 'rows are deleted with their order')
    },
  )

  t.test(`${engine}: a feature registers a projection`, async (t) => {
    const environment: NodeJS.ProcessEnv = await createEnvironment(t)
    const { app } = await startApp(t, environment, {
      async pages(app) {
        await createTable(app.database)
        await importOrders(app.database, [40])
        app.events.project(NAME, project, 'Notes')
      },
    })
    t.equal(app.events.getTitle(NAME), 'Notes')
    await waitFor(async () => (await readNotes(app.database))[0] === '40 imported')
    await edit(app.orders, '40', 'edited')
    await waitFor(async () => (await readNotes(app.database))[0] === '40 edited')
  })
}
