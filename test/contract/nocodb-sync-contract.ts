import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { createDayCalendar } from '../../src/core/formatting/day-calendar.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import { DEFAULT_TITLES } from '../../src/nocodb/columns.js'
import { claimDatabase } from '../../src/nocodb/mirror-state.js'
import { Mirror } from '../../src/nocodb/mirror.js'
import { createNocoDbClient } from '../../src/nocodb/nocodb-client.js'
import { createOrdersTable } from '../../src/nocodb/orders-table.js'
import { createSyncPasses } from '../../src/nocodb/sync-pass.js'
import { inferStatusFields } from '../../src/orders/order-status.js'
import type { HistoryEntry, Order } from '../../src/orders/order.js'
import { temporaryFolder } from '../support/app.js'
import { faultyProxy, type Fault } from '../support/faulty-proxy.js'
import {
  getRecordsPath,
  GOOD_ROW,
  listOrders,
  ORDERS,
  startService,
  SYNC_TIMEOUT_MS,
} from '../support/nocodb-service.js'
import type { TestBase, TestNocoDb } from '../support/nocodb.js'
import { newOrder } from '../support/order-store.js'
import { waitFor } from '../support/wait-for.js'

/** A request that was sent with an idempotency key. */
interface Request {
  key: string
  order: object
}

/** Overlap of the sync passes that a test runs itself, ms. */
const OVERLAP_MS = 1_500

/** Tests of the synchronisation with NocoDB. */
export function nocoDbSyncContract(t: Test, nocoDb: TestNocoDb): void {
  const { api } = nocoDb

  t.test('reads rows of version 0.1.0, and recognises their idempotency keys', async (t) => {
    const { rows, orders, request } = JSON.parse(
      readFileSync(join(projectRoot, 'test', 'contract', 'nocodb-rows-0.1.0.json'), 'utf8'),
    ) as { rows: object[]; orders: { order: Order; history: HistoryEntry[] }[]; request: Request }
    const base = await nocoDb.createBase()
    for (const row of rows) await api('POST', getRecordsPath(base), row)
    const { call } = await startService(t, base)
    for (const { order, history } of orders) {
      const path = `${ORDERS}/${order.id}`
      t.strictSame((await call('GET', path)).body, {
        ...order,
        calculation: null,
        origin: null,
        checkout: null,
        retirement: null,
        ...inferStatusFields(order, history),
      })
      t.strictSame((await call('GET', `${path}/history`)).body.items, history)
    }
    const replayed = await call('POST', ORDERS, request.order, { 'idempotency-key': request.key })
    t.equal(replayed.body.id, '1')
  })

  t.test('shows an edit made in NocoDB as a new version with its history', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startService(t, base)
    const { body: created } = await service.call('POST', ORDERS, newOrder({ co2eKg: 0.1234567 }))
    const path = `${ORDERS}/${created.id}`
    await api('PATCH', getRecordsPath(base), [
      { Id: 1, CustomerName: 'Renamed', Status: 'fulfilled' },
    ])
    const edited = await waitFor(async () => {
      const { body } = await service.call('GET', path)
      return body.customerName === 'Renamed' && body
    }, SYNC_TIMEOUT_MS)
    t.match(edited, { status: 'fulfilled', version: 2, co2eKg: 0.1234567 })
    t.equal(edited.fulfilledAt, edited.updatedAt)
    const conflict = await service.call('PATCH', path, { notes: 'x' }, { 'if-match': '"1"' })
    t.equal(conflict.status, 412)

    await waitFor(async () => {
      const { body } = await api('GET', `${getRecordsPath(base)}/1`)
      return body.Version === 2
    }, SYNC_TIMEOUT_MS)
    await api('PATCH', getRecordsPath(base), [{ Id: 1, AmountMinor: 1 }])
    await waitFor(async () => (await service.call('GET', path)).body.version === 3, SYNC_TIMEOUT_MS)
    const changed = await service.call('PATCH', path, { notes: 'x' }, { 'if-match': '"3"' })
    t.match(changed.body, { version: 4, amountMinor: 1, notes: 'x', customerName: 'Renamed' })
    const { items } = (await service.call('GET', `${path}/history`)).body
    t.match(items, [
      { by: 'admin@example.com', version: 4, changes: [{ field: 'notes', from: '', to: 'x' }] },
      { by: 'NocoDB', version: 3, changes: [{ field: 'amountMinor', from: 4009, to: 1 }] },
      {
        by: 'NocoDB',
        version: 2,
        changes: [
          { field: 'status', from: 'pending', to: 'fulfilled' },
          { field: 'customerName', from: 'Ann Example', to: 'Renamed' },
        ],
      },
      { by: 'admin@example.com', version: 1, changes: [] },
    ])
  })

  t.test('syncs at the interval, and each sync pass shows the latest changes', async (t) => {
    const base = await nocoDb.createBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const service = await startService(t, base, {
      DATABASE_BASE_URL: proxy.url,
      NOCODB_SYNC_INTERVAL: '1',
    })
    await service.call('POST', ORDERS, newOrder())
    /** When each sync pass requested changes */
    const passes: number[] = []
    let [passesLeft, release] = [Infinity, (): void => undefined]
    proxy.getFault = async (method, path): Promise<Fault> => {
      if (method !== 'GET' || !/records\?.*UpdatedAt%2Cgte/.test(path)) return 'none'
      passes.push(performance.now())
      if (passesLeft-- > 0) return 'none'
      await new Promise<void>((resolve) => {
        release = resolve
      })
      return 'none'
    }
    await waitFor(async () => passes.length > 10, SYNC_TIMEOUT_MS)
    const intervals = passes.slice(1).map((at, i) => at - (passes[i] ?? 0))
    const median = intervals.sort((a, b) => a - b)[Math.floor(intervals.length / 2)] ?? 0
    t.ok(median > 900 && median < 1_500, `a pass every ${Math.round(median)} ms`)

    const shows = async (notes: string): Promise<boolean> =>
      (await service.call('GET', `${ORDERS}/1`)).body.notes === notes
    for (const notes of ['first', 'second', 'third']) {
      await api('PATCH', getRecordsPath(base), [{ Id: 1, Notes: notes }])
      // Lets one pass through after the edit; the next one waits until the edit is shown.
      passesLeft = 1
      await waitFor(() => shows(notes), SYNC_TIMEOUT_MS)
      passesLeft = Infinity
      release()
    }
    await api('POST', getRecordsPath(base), GOOD_ROW)
    passesLeft = 1
    await waitFor(async () => (await listOrders(service)).totalItems === 2, SYNC_TIMEOUT_MS)
    passesLeft = Infinity
    release()
  })

  /** Opens a mirror whose sync passes the test runs itself, through a proxy. */
  async function openTestMirror(t: Test, base: TestBase) {
    const proxy = await faultyProxy(t, nocoDb.url)
    const client = createNocoDbClient({
      baseUrl: proxy.url,
      token: nocoDb.token,
      requestsPerSecond: 1_000,
    })
    const database = openSqliteDatabase(join(temporaryFolder(t), 'orders.db'))
    t.teardown(async () => {
      await database.close()
      await client.close()
    })
    const titles = DEFAULT_TITLES
    await claimDatabase(database, { ...base, titles })
    const mirror = new Mirror(database, createDayCalendar('UTC'), titles)
    const passes = createSyncPasses({
      table: createOrdersTable(client, { ...base, titles, now: mirror.now }),
      mirror,
      onRowErrors: () => undefined,
      onProgress: async () => undefined,
      overlapMs: OVERLAP_MS,
    })
    return { proxy, mirror, passes }
  }

  t.test(
    'finds an edit made in the same second as the previous one, also after an outage',
    async (t) => {
      const base = await nocoDb.createBase()
      const { proxy, mirror, passes } = await openTestMirror(t, base)
      const edit = async (Notes: string): Promise<string> => {
        await api('PATCH', getRecordsPath(base), [{ Id: 1, Notes }])
        return (await api('GET', `${getRecordsPath(base)}/1`)).body.UpdatedAt
      }
      await api('POST', getRecordsPath(base), GOOD_ROW)
      await passes.load()
      // Two edits in the same second, the second one after the sync pass.
      await waitFor(async () => {
        const first = await edit('first')
        await passes.readChanges()
        return (await edit('second')) === first
      })
      t.equal((await mirror.get(1))?.notes, 'first')
      proxy.getFault = () => 'server_error'
      await sleep(OVERLAP_MS + 100)
      await t.rejects(passes.readChanges())
      proxy.getFault = () => 'none'
      await passes.readChanges()
      t.equal((await mirror.get(1))?.notes, 'second')
    },
  )

  t.test('finds changes despite a wrong clock, at the latest by comparing all rows', async (t) => {
    const base = await nocoDb.createBase()
    const { mirror, passes } = await openTestMirror(t, base)
    const edit = (Notes: string) => api('PATCH', getRecordsPath(base), [{ Id: 1, Notes }])
    await api('POST', getRecordsPath(base), GOOD_ROW)
    await passes.load()
    await passes.readChanges()
    // A row modified by a clock that is ahead does not hide later changes.
    const tomorrow = String(Date.now() + 86_400_000)
    await mirror.setState({ touched: tomorrow })
    await edit('today')
    await passes.readChanges()
    t.equal((await mirror.get(1))?.notes, 'today')

    // A row modified by a clock that is behind is only found by comparing all rows.
    await sleep(1_100)
    await edit('long ago')
    await api('POST', getRecordsPath(base), [{ Notes: 'new' }, { Notes: 'new' }])
    await sleep(OVERLAP_MS + 1_100)
    await mirror.setState({ touched: tomorrow })
    await passes.readChanges()
    t.equal((await mirror.get(1))?.notes, 'today')
    await passes.compareAll()
    t.equal((await mirror.get(1))?.notes, 'long ago')
    t.equal(await mirror.count(), 3)
    await api('DELETE', getRecordsPath(base), [{ Id: 2 }])
    await passes.compareAll()
    t.equal(await mirror.count(), 2)
  })

  t.test('finds rows restored from a backup', async (t) => {
    const base = await nocoDb.createBase()
    const { mirror, passes } = await openTestMirror(t, base)
    await api('POST', getRecordsPath(base), Array(3).fill(GOOD_ROW))
    await passes.load()
    await passes.readChanges()
    await sleep(OVERLAP_MS + 1_100)
    await passes.readChanges()
    // The restored rows are older than the last sync pass; one of them has the highest id.
    await mirror.delete([1, 3], Date.now())
    await passes.readChanges()
    t.equal(await mirror.count(), 1, 'reading changes does not find them')
    await passes.reconcileDeletions()
    t.strictSame(
      [(await mirror.get(1))?.customerName, (await mirror.get(3))?.customerName],
      ['Good', 'Good'],
    )
    await api('DELETE', getRecordsPath(base), [{ Id: 2 }])
    await passes.reconcileDeletions()
    t.equal(await mirror.get(2), null)
    t.equal(await mirror.count(), 2)

    // The mirror has a change from after the backup.
    const { body: row } = await api('GET', `${getRecordsPath(base)}/1`)
    const later = { ...row, CustomerName: 'Lost', UpdatedAt: '2026-01-01 00:00:00+00:00' }
    await mirror.upsert({ rows: [later], requestedAt: Date.now() })
    await mirror.setState({ touched: String(Date.now()) })
    await passes.readChanges()
    t.equal((await mirror.get(1))?.customerName, 'Lost')
    passes.markUncertain()
    await passes.readChanges()
    t.equal(
      (await mirror.get(1))?.customerName,
      'Good',
      'a backup may be restored during an outage',
    )
  })

  t.test('shows rows created in NocoDB and hides deleted ones', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startService(t, base)
    const rows = Array.from({ length: 5 }, (_, i) => ({
      CustomerName: `Customer ${i}`,
      CustomerEmail: 'c@example.com',
      Co2eKg: 12.5,
      AmountMinor: 100,
      Currency: 'EUR',
    }))
    await api('POST', getRecordsPath(base), rows)
    const list = await waitFor(async () => {
      const orders = await listOrders(service)
      return orders.totalItems === 5 && orders
    }, SYNC_TIMEOUT_MS)
    t.match(list.items[0], {
      orderNumber: 'CW-000005',
      status: 'pending',
      version: 1,
      co2eKg: 12.5,
    })
    t.equal(list.items[0].placedAt, list.items[0].createdAt)
    const history = await service.call('GET', `${ORDERS}/5/history`)
    t.match(history.body.items, [{ by: 'NocoDB', version: 1 }])
    const changed = await service.call('PATCH', `${ORDERS}/5`, { status: 'paid' })
    t.match(changed.body, { version: 2, status: 'paid' })

    await api('DELETE', getRecordsPath(base), [{ Id: 2 }, { Id: 4 }])
    await waitFor(async () => (await listOrders(service)).totalItems === 3, SYNC_TIMEOUT_MS)
    t.equal((await service.call('GET', `${ORDERS}/2`)).status, 404)
    t.equal((await service.call('PATCH', `${ORDERS}/4`, { notes: 'x' })).status, 404)
    const stats = await service.call('POST', '/api/admin/stats', { range: 'all' })
    t.match(stats.body, { orders: 3, co2eKg: 37.5, revenue: [{ amountMinor: 300 }] })
  })
}
