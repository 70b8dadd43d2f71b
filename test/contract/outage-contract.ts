import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { temporaryFolder } from '../support/app.js'
import { faultyProxy, type Fault } from '../support/faulty-proxy.js'
import { ORDERS, readRows, startService, SYNC_TIMEOUT_MS } from '../support/nocodb-service.js'
import type { TestNocoDb } from '../support/nocodb.js'
import { newOrder } from '../support/order-store.js'
import { waitFor } from '../support/wait-for.js'

/** A typical timeout of proxies in front of Clearwake. */
const MAX_RESPONSE_MS = 45_000

/** Includes the back-off after an outage. */
const RECOVERY_TIMEOUT_MS = 90_000

/** Tests of outages and errors of NocoDB, and of the recovery. */
export function outageContract(t: Test, nocoDb: TestNocoDb): void {
  t.test('reads orders and rejects writes while NocoDB is unreachable', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startService(t, base)
    const { call } = service
    await call('POST', ORDERS, newOrder())
    await nocoDb.kill()
    const outage = await waitFor(async () => {
      const { body } = await call('GET', '/readyz')
      return body.checks.orders.detail.includes('cannot be reached') && body
    }, SYNC_TIMEOUT_MS)
    t.equal(outage.checks.orders.ready, true, 'is ready for reads')

    const read = await call('GET', `${ORDERS}/1`)
    t.equal(read.status, 200)
    const asOf = Date.parse(read.headers.get('orders-as-of') ?? '')
    t.ok(asOf > Date.now() - 60_000 && asOf < Date.now())
    for (const [method, path, body] of [
      ['POST', ORDERS, newOrder()],
      ['PATCH', `${ORDERS}/1`, { notes: 'x' }],
      ['DELETE', `${ORDERS}/1`, undefined],
    ] as const) {
      const rejected = await call(method, path, body)
      t.equal(rejected.status, 503, method)
      t.ok(Number(rejected.headers.get('retry-after')) > 0)
      t.match(rejected.body.detail, /Nothing was saved/)
      t.notMatch(JSON.stringify(rejected.body), '127.0.0.1')
    }
    t.match((await call('GET', `${ORDERS}/1`)).body, { version: 1, notes: '' })
    t.equal((await call('POST', '/api/admin/stats', { range: 'all' })).body.orders, 1)
    t.match((await call('GET', `${ORDERS}?q=ann`)).body, { totalItems: 1 })
    const log = service.log.filter(({ msg }) =>
      String(msg).includes('syncing orders from NocoDB failed'),
    )
    t.equal(log.length, 1, 'logs it once, not with each attempt')

    await nocoDb.start()
    const later = await waitFor(async () => {
      const { headers } = await call('GET', `${ORDERS}/1`)
      return Date.parse(headers.get('orders-as-of') ?? '') > asOf
    }, RECOVERY_TIMEOUT_MS)
    t.ok(later, 'recovers automatically')
    t.equal((await call('PATCH', `${ORDERS}/1`, { notes: 'x' })).body.version, 2)
    t.equal((await readRows(nocoDb, base)).length, 1)
  })

  t.test('starts with the existing mirror while NocoDB is unreachable', async (t) => {
    const base = await nocoDb.createBase()
    const DATA_DIR = temporaryFolder(t)
    const first = await startService(t, base, { DATA_DIR })
    await first.call('POST', ORDERS, newOrder())
    await first.app.close()
    await nocoDb.kill()
    const again = await startService(t, base, { DATA_DIR })
    t.equal((await again.call('GET', ORDERS)).body.totalItems, 1)
    t.equal((await again.call('PATCH', `${ORDERS}/1`, { notes: 'x' })).status, 503)
    const { checks } = (await again.call('GET', '/readyz')).body
    t.match(checks.orders.detail, /orders can be read, as of \d{4}-/)
    await nocoDb.start()
    await waitFor(
      async () => (await again.call('PATCH', `${ORDERS}/1`, { notes: 'x' })).status === 200,
      RECOVERY_TIMEOUT_MS,
    )
  })

  t.test('times out if NocoDB accepts requests without a response', async (t) => {
    const base = await nocoDb.createBase()
    const service = await startService(t, base)
    await service.call('POST', ORDERS, newOrder())
    nocoDb.freeze()
    const startedAt = Date.now()
    const writes = Promise.all([
      service.call('POST', ORDERS, newOrder()),
      ...Array.from({ length: 6 }, () => service.call('PATCH', `${ORDERS}/1`, { notes: 'x' })),
    ])
    t.equal((await service.call('GET', ORDERS)).status, 200)
    for (const { status } of await writes) t.equal(status, 503)
    t.ok(Date.now() - startedAt < MAX_RESPONSE_MS, 'including queued changes of the same order')
    nocoDb.thaw()
    const done = await waitFor(async () => {
      const response = await service.call('PATCH', `${ORDERS}/1`, { notes: 'x' })
      return response.status === 200 && response
    }, RECOVERY_TIMEOUT_MS)
    t.equal(done.body.version, 2)
  })

  t.test(
    'recovers from server errors, invalid responses, lost connections and rate limits',
    async (t) => {
      const base = await nocoDb.createBase()
      const proxy = await faultyProxy(t, nocoDb.url)
      const service = await startService(t, base, { DATABASE_BASE_URL: proxy.url })
      await service.call('POST', ORDERS, newOrder())
      let version = 1
      const faults: [Fault, RegExp][] = [
        ['server_error', /returned a server error/],
        ['foreign_response', /not from NocoDB/],
        ['request_lost', /is not responding/],
        ['response_truncated', /is not responding/],
        ['rate_limited', /rate limit/],
      ]
      for (const [fault, message] of faults) {
        proxy.getFault = () => fault
        await waitFor(async () => {
          const { body } = await service.call('GET', '/readyz')
          return message.test(body.checks.orders.detail)
        }, RECOVERY_TIMEOUT_MS)
        const rejected = await service.call('PATCH', `${ORDERS}/1`, { notes: `during ${fault}` })
        t.equal(rejected.status, 503, fault)
        t.ok(Number(rejected.headers.get('retry-after')) > 0)
        t.equal((await service.call('GET', `${ORDERS}/1`)).body.version, version)
        proxy.getFault = () => 'none'
        const done = await waitFor(async () => {
          const response = await service.call('PATCH', `${ORDERS}/1`, { notes: `after ${fault}` })
          return response.status === 200 && response
        }, RECOVERY_TIMEOUT_MS)
        t.equal(done.body.version, ++version, fault)
      }
    },
  )

  t.test('confirms a write whose response is lost instead of repeating it', async (t) => {
    const base = await nocoDb.createBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const service = await startService(t, base, { DATABASE_BASE_URL: proxy.url })
    /** Injects a fault into the first request with a method. */
    const failOnce = (failing: string, fault: Fault): void => {
      let isFirst = true
      proxy.getFault = (method) => {
        if (method !== failing || !isFirst) return 'none'
        isFirst = false
        return fault
      }
    }
    for (const fault of ['response_lost', 'response_truncated'] as const) {
      failOnce('POST', fault)
      const created = await service.call('POST', ORDERS, newOrder())
      t.equal(created.status, 201, fault)
      for (const onPatch of [
        'response_lost',
        'response_truncated',
        'request_lost',
        'server_error',
      ] as const) {
        failOnce('PATCH', onPatch)
        const { body: before } = await service.call('GET', `${ORDERS}/${created.body.id}`)
        const changed = await service.call('PATCH', `${ORDERS}/${created.body.id}`, {
          notes: `${before.notes}.`,
        })
        t.equal(changed.status, 200, onPatch)
        t.equal(changed.body.version - before.version, 1)
        t.equal(changed.body.notes, `${before.notes}.`)
      }
      const { items } = (await service.call('GET', `${ORDERS}/${created.body.id}/history`)).body
      t.equal(items.length, 5)
    }
    t.equal((await readRows(nocoDb, base)).length, 2)

    proxy.getFault = (method) => (method === 'POST' ? 'response_lost' : 'none')
    const key = { 'idempotency-key': 'lost' }
    const keyed = await service.call('POST', ORDERS, newOrder(), key)
    t.equal(keyed.status, 201, 'is found by its write token')

    let isUnavailable = false
    proxy.getFault = (method) => {
      if (method === 'POST') isUnavailable = true
      return isUnavailable ? 'response_lost' : 'none'
    }
    const other = { 'idempotency-key': 'lost too' }
    const creation = await service.call('POST', ORDERS, newOrder({ amountMinor: 1 }), other)
    t.equal(creation.status, 503)
    t.match(creation.body.detail, /couldn't confirm that the order was created.*Idempotency-Key/)
    proxy.getFault = () => 'none'
    const repeated = await service.call('POST', ORDERS, newOrder({ amountMinor: 1 }), other)
    t.equal(repeated.status, 201)
    t.equal((await readRows(nocoDb, base)).length, 4, 'is created once')

    isUnavailable = false
    proxy.getFault = (method) => {
      if (method === 'PATCH') isUnavailable = true
      return isUnavailable ? 'response_lost' : 'none'
    }
    const path = `${ORDERS}/${repeated.body.id}`
    const change = await service.call('PATCH', path, { notes: 'x' })
    t.equal(change.status, 503)
    t.match(change.body.detail, /couldn't confirm that the change was saved/)
    proxy.getFault = () => 'none'
    await waitFor(
      async () => (await service.call('GET', path)).body.version === 2,
      RECOVERY_TIMEOUT_MS,
    )
    t.equal((await service.call('PATCH', path, { notes: 'x' })).body.version, 2, 'was saved')
  })

  t.test('shows a created order immediately even if it cannot be read back', async (t) => {
    const base = await nocoDb.createBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const service = await startService(t, base, {
      DATABASE_BASE_URL: proxy.url,
      NOCODB_SYNC_INTERVAL: '3600',
    })
    let isCreated = false
    proxy.getFault = (method) => {
      if (method === 'POST') isCreated = true
      return isCreated && method === 'GET' ? 'server_error' : 'none'
    }
    const created = await service.call('POST', ORDERS, newOrder({ co2eKg: 0.1234567 }))
    t.equal(created.status, 201)
    const read = await service.call('GET', `${ORDERS}/${created.body.id}`)
    t.strictSame(read.body, created.body)
    t.strictSame((await service.call('GET', ORDERS)).body.items, [created.body])
    proxy.getFault = () => 'none'
    const changed = await service.call('PATCH', `${ORDERS}/${created.body.id}`, { notes: 'x' })
    t.match(changed.body, { version: 2, notes: 'x', co2eKg: 0.1234567 })
    const { items } = (await service.call('GET', `${ORDERS}/${created.body.id}/history`)).body
    t.equal(items.length, 2, 'has no other version')
  })

  t.test('sends no requests during Retry-After', async (t) => {
    const base = await nocoDb.createBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const service = await startService(t, base, { DATABASE_BASE_URL: proxy.url })
    await service.call('POST', ORDERS, newOrder())
    let isFirst = true
    proxy.getFault = () => {
      const fault = isFirst ? 'rate_limited' : 'none'
      isFirst = false
      return fault
    }
    await waitFor(async () => !isFirst, SYNC_TIMEOUT_MS)
    const before = proxy.requests.length
    await sleep(700)
    t.equal(proxy.requests.length, before, 'sends nothing for the second of Retry-After')
    const waited = await service.call('PATCH', `${ORDERS}/1`, { notes: 'x' })
    t.equal(waited.status, 200, 'waits for a short time')
  })
}
