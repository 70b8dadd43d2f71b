import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { temporaryFolder } from '../support/app.js'
import { faultyProxy, type Fault } from '../support/faulty-proxy.js'
import type { TestBase, TestNocoDb } from '../support/nocodb.js'
import { startOrderApi, type ApiResponse, type OrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { until, untilReady } from '../support/until.js'

const ORDERS = '/api/admin/orders'
const SOON_MS = 60_000

/** As long as people and proxies wait for an answer. */
const PATIENCE_MS = 45_000

/** After an outage a copy tries again within this. */
const BACK_MS = 90_000

/** Writes that are done in the test in which NocoDB comes and goes. */
const RANDOM_WRITES = 200
const CRASHES = 3

const random = (below: number): number => Math.floor(Math.random() * below)
const pick = <T>(values: readonly T[]): T | undefined => values[random(values.length)]

/** What holds while NocoDB is away or does not do as it should, and afterwards. */
export function outageContract(t: Test, nocoDb: TestNocoDb): void {
  async function start(t: Test, environment: NodeJS.ProcessEnv): Promise<OrderApi> {
    const service = await startOrderApi(t, environment)
    await untilReady(service.url)
    return service
  }
  const rowsOf = async ({ tableId }: TestBase): Promise<any[]> => {
    const rows: any[] = []
    for (;;) {
      const query = `sort=Id&limit=1000&where=(Id,gt,${rows.at(-1)?.Id ?? 0})`
      const { body } = await nocoDb.api('GET', `/api/v2/tables/${tableId}/records?${query}`)
      rows.push(...body.list)
      if (body.pageInfo.isLastPage) return rows
    }
  }

  t.test('while NocoDB is gone, reading goes on and writing is refused whole', async (t) => {
    const base = await nocoDb.ordersBase()
    const service = await start(t, base.environment)
    const { call } = service
    await call('POST', ORDERS, newOrder())
    await nocoDb.kill()
    const away = await until(async () => {
      const { body } = await call('GET', '/readyz')
      return body.checks.orders.detail.includes('cannot be reached') && body
    }, SOON_MS)
    t.equal(away.checks.orders.ready, true, 'what can be read is ready')

    const read = await call('GET', `${ORDERS}/1`)
    t.equal(read.status, 200)
    const asOf = Date.parse(read.headers.get('orders-as-of') ?? '')
    t.ok(asOf > Date.now() - 60_000 && asOf < Date.now())
    for (const [method, path, body] of [
      ['POST', ORDERS, newOrder()],
      ['PATCH', `${ORDERS}/1`, { notes: 'x' }],
      ['DELETE', `${ORDERS}/1`, undefined],
    ] as const) {
      const refused = await call(method, path, body)
      t.equal(refused.status, 503, method)
      t.ok(Number(refused.headers.get('retry-after')) > 0)
      t.match(refused.body.detail, /nothing was changed/)
      t.notMatch(JSON.stringify(refused.body), '127.0.0.1')
    }
    t.match((await call('GET', `${ORDERS}/1`)).body, { version: 1, notes: '' })
    t.equal((await call('POST', '/api/admin/stats', { range: 'all' })).body.orders, 1)
    t.match((await call('GET', `${ORDERS}?q=ann`)).body, { totalItems: 1 })
    const log = service.log.filter(({ msg }) => String(msg).includes('do not keep up'))
    t.equal(log.length, 1, 'told once, not at each attempt')

    await nocoDb.start()
    const later = await until(async () => {
      const { headers } = await call('GET', `${ORDERS}/1`)
      return Date.parse(headers.get('orders-as-of') ?? '') > asOf
    }, BACK_MS)
    t.ok(later, 'it catches up by itself')
    t.equal((await call('PATCH', `${ORDERS}/1`, { notes: 'x' })).body.version, 2)
    t.equal((await rowsOf(base)).length, 1)
  })

  t.test('a service that starts while NocoDB is gone shows what it has', async (t) => {
    const base = await nocoDb.ordersBase()
    const DATA_DIR = temporaryFolder(t)
    const first = await start(t, { ...base.environment, DATA_DIR })
    await first.call('POST', ORDERS, newOrder())
    await first.app.close()
    await nocoDb.kill()
    const again = await start(t, { ...base.environment, DATA_DIR })
    t.equal((await again.call('GET', ORDERS)).body.totalItems, 1)
    t.equal((await again.call('PATCH', `${ORDERS}/1`, { notes: 'x' })).status, 503)
    const { checks } = (await again.call('GET', '/readyz')).body
    t.match(checks.orders.detail, /as they were in NocoDB at \d{4}-/)
    await nocoDb.start()
    await until(
      async () => (await again.call('PATCH', `${ORDERS}/1`, { notes: 'x' })).status === 200,
      BACK_MS,
    )
  })

  t.test('a NocoDB that takes requests and answers nothing is given up on', async (t) => {
    const base = await nocoDb.ordersBase()
    const service = await start(t, base.environment)
    await service.call('POST', ORDERS, newOrder())
    nocoDb.freeze()
    const begun = Date.now()
    const writes = Promise.all([
      service.call('POST', ORDERS, newOrder()),
      ...Array.from({ length: 6 }, () => service.call('PATCH', `${ORDERS}/1`, { notes: 'x' })),
    ])
    t.equal((await service.call('GET', ORDERS)).status, 200)
    for (const { status } of await writes) t.equal(status, 503)
    t.ok(Date.now() - begun < PATIENCE_MS, 'also for who waits behind others')
    nocoDb.thaw()
    const done = await until(async () => {
      const answer = await service.call('PATCH', `${ORDERS}/1`, { notes: 'x' })
      return answer.status === 200 && answer
    }, BACK_MS)
    t.equal(done.body.version, 2)
  })

  t.test('whatever stands in the way of NocoDB is survived', async (t) => {
    const base = await nocoDb.ordersBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const service = await start(t, { ...base.environment, DATABASE_BASE_URL: proxy.url })
    await service.call('POST', ORDERS, newOrder())
    let version = 1
    const faults: [Fault, RegExp][] = [
      ['fails', /errors of its own/],
      ['garbles', /not NocoDB/],
      ['cuts before', /does not answer/],
      ['cuts amid', /does not answer/],
      ['rations', /no more requests/],
    ]
    for (const [fault, said] of faults) {
      proxy.faultOf = () => fault
      await until(async () => {
        const { body } = await service.call('GET', '/readyz')
        return said.test(body.checks.orders.detail)
      }, BACK_MS)
      const refused = await service.call('PATCH', `${ORDERS}/1`, { notes: `during ${fault}` })
      t.equal(refused.status, 503, fault)
      t.ok(Number(refused.headers.get('retry-after')) > 0)
      t.equal((await service.call('GET', `${ORDERS}/1`)).body.version, version)
      proxy.faultOf = () => 'none'
      const done = await until(async () => {
        const answer = await service.call('PATCH', `${ORDERS}/1`, { notes: `after ${fault}` })
        return answer.status === 200 && answer
      }, BACK_MS)
      t.equal(done.body.version, ++version, fault)
    }
  })

  t.test('a write whose answer is lost is looked up, not done twice', async (t) => {
    const base = await nocoDb.ordersBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const service = await start(t, { ...base.environment, DATABASE_BASE_URL: proxy.url })
    /** The first request of a kind has a fault. */
    const once = (kind: string, fault: Fault): void => {
      let isFirst = true
      proxy.faultOf = (method) => {
        if (method !== kind || !isFirst) return 'none'
        isFirst = false
        return fault
      }
    }
    for (const fault of ['cuts after', 'cuts amid'] as const) {
      once('POST', fault)
      const created = await service.call('POST', ORDERS, newOrder())
      t.equal(created.status, 201, fault)
      for (const onPatch of ['cuts after', 'cuts amid', 'cuts before', 'fails'] as const) {
        once('PATCH', onPatch)
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
    t.equal((await rowsOf(base)).length, 2)

    proxy.faultOf = (method) => (method === 'POST' ? 'cuts after' : 'none')
    const key = { 'idempotency-key': 'lost' }
    const keyed = await service.call('POST', ORDERS, newOrder(), key)
    t.equal(keyed.status, 201, 'found by its token')

    let isGone = false
    proxy.faultOf = (method) => {
      if (method === 'POST') isGone = true
      return isGone ? 'cuts after' : 'none'
    }
    const other = { 'idempotency-key': 'lost too' }
    const unknown = await service.call('POST', ORDERS, newOrder({ amountMinor: 1 }), other)
    t.equal(unknown.status, 503)
    t.match(unknown.body.detail, /not known whether the order was entered.*Idempotency-Key/)
    proxy.faultOf = () => 'none'
    const repeated = await service.call('POST', ORDERS, newOrder({ amountMinor: 1 }), other)
    t.equal(repeated.status, 201)
    t.equal((await rowsOf(base)).length, 4, 'entered once')

    isGone = false
    proxy.faultOf = (method) => {
      if (method === 'PATCH') isGone = true
      return isGone ? 'cuts after' : 'none'
    }
    const path = `${ORDERS}/${repeated.body.id}`
    const open = await service.call('PATCH', path, { notes: 'x' })
    t.equal(open.status, 503)
    t.match(open.body.detail, /not known whether the change was made/)
    proxy.faultOf = () => 'none'
    await until(async () => (await service.call('GET', path)).body.version === 2, BACK_MS)
    t.equal((await service.call('PATCH', path, { notes: 'x' })).body.version, 2, 'it was')
  })

  t.test('an order that was entered is seen at once, though it cannot be read back', async (t) => {
    const base = await nocoDb.ordersBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const service = await start(t, {
      ...base.environment,
      DATABASE_BASE_URL: proxy.url,
      NOCODB_SYNC_INTERVAL: '3600',
    })
    let isEntered = false
    proxy.faultOf = (method) => {
      if (method === 'POST') isEntered = true
      return isEntered && method === 'GET' ? 'fails' : 'none'
    }
    const created = await service.call('POST', ORDERS, newOrder({ co2eKg: 0.1234567 }))
    t.equal(created.status, 201)
    const read = await service.call('GET', `${ORDERS}/${created.body.id}`)
    t.strictSame(read.body, created.body)
    t.strictSame((await service.call('GET', ORDERS)).body.items, [created.body])
    proxy.faultOf = () => 'none'
    const changed = await service.call('PATCH', `${ORDERS}/${created.body.id}`, { notes: 'x' })
    t.match(changed.body, { version: 2, notes: 'x', co2eKg: 0.1234567 })
    const { items } = (await service.call('GET', `${ORDERS}/${created.body.id}/history`)).body
    t.equal(items.length, 2, 'nobody has changed it in between')
  })

  t.test('NocoDB that asks to be left alone is, by everybody', async (t) => {
    const base = await nocoDb.ordersBase()
    const proxy = await faultyProxy(t, nocoDb.url)
    const service = await start(t, { ...base.environment, DATABASE_BASE_URL: proxy.url })
    await service.call('POST', ORDERS, newOrder())
    let isFirst = true
    proxy.faultOf = () => {
      const fault = isFirst ? 'rations' : 'none'
      isFirst = false
      return fault
    }
    await until(async () => !isFirst, SOON_MS)
    const before = proxy.requests.length
    await sleep(700)
    t.equal(proxy.requests.length, before, 'nothing is asked for the second it asked for')
    const waited = await service.call('PATCH', `${ORDERS}/1`, { notes: 'x' })
    t.equal(waited.status, 200, 'a short wait is waited')
  })

  t.test(
    `${RANDOM_WRITES} random writes while NocoDB comes and goes: all tell the same in the end`,
    async (t) => {
      const base = await nocoDb.ordersBase()
      const first = await start(t, base.environment)
      const services = [first, await start(t, base.environment)]
      /** Orders that were acknowledged, by id, with the newest version that was */
      const acknowledged = new Map<string, any>()
      const keys: { key: string; order: any }[] = []
      let [refused, unknown] = [0, 0]

      function note({ status, body }: ApiResponse): void {
        if (status === 503) {
          refused++
          if (/not known/.test(body.detail)) unknown++
        } else if (status < 300) {
          const known = acknowledged.get(body.id)
          if (known === undefined || body.version > known.version) acknowledged.set(body.id, body)
        } else t.ok([404, 409, 412].includes(status), `${status} ${JSON.stringify(body)}`)
      }

      let [asked, done] = [0, 0]
      async function writer(): Promise<void> {
        while (done < RANDOM_WRITES) {
          const number = ++asked
          const before = refused
          const { call } = pick(services) ?? first
          const id = pick([...acknowledged.keys()])
          if (id === undefined || random(3) === 0) {
            const again = random(3) === 0 ? pick(keys) : undefined
            const entry = again ?? {
              key: `key ${number}`,
              order: newOrder({ amountMinor: number }),
            }
            keys.push(entry)
            note(await call('POST', ORDERS, entry.order, { 'idempotency-key': entry.key }))
          } else if (random(6) === 0) note(await call('DELETE', `${ORDERS}/${id}`))
          else note(await call('PATCH', `${ORDERS}/${id}`, { notes: `write ${number}` }))
          // What is refused whole is no write, and those who hear it come again later.
          if (refused === before) done++
          await sleep(random(100) + (refused > before ? 500 : 0))
        }
      }
      async function crashes(): Promise<void> {
        for (let crash = 0; crash < CRASHES; crash++) {
          await until(async () => done > ((crash + 1) * RANDOM_WRITES) / (CRASHES + 2), 120_000)
          await nocoDb.kill()
          await sleep(random(500))
          await nocoDb.start()
        }
      }
      await Promise.all([writer(), writer(), writer(), crashes()])
      t.comment(`${refused} refused, of them ${unknown} with unknown outcome`)
      t.ok(refused > 0, 'some met an outage')

      const rows = await until(async () => {
        const found = await rowsOf(base)
        const lists = await Promise.all(
          services.map(async ({ call }) => (await call('GET', `${ORDERS}?pageSize=1`)).body),
        )
        return lists.every(({ totalItems }) => totalItems === found.length) && found
      }, BACK_MS)
      t.equal(new Set(rows.map((row) => row.IdempotencyKey)).size, rows.length, 'no order twice')
      for (const row of rows) {
        const reads = await Promise.all(
          services.map(({ call }) =>
            until(async () => {
              const { body } = await call('GET', `${ORDERS}/${row.Id}`)
              return body.version === row.Version && body
            }, BACK_MS),
          ),
        )
        t.strictSame(reads[0], reads[1], 'both copies are the same')
        t.match(reads[0], {
          notes: row.Notes ?? '',
          status: row.Status,
          amountMinor: row.AmountMinor,
        })
        const { items } = (await first.call('GET', `${ORDERS}/${row.Id}/history`)).body
        t.strictSame(
          items.map(({ version }: any) => version),
          Array.from({ length: row.Version }, (_, i) => row.Version - i),
          'every version is in the history',
        )
        t.notOk(items.some(({ by }: any) => by === 'NocoDB'))
        const told = acknowledged.get(String(row.Id))
        acknowledged.delete(String(row.Id))
        if (told === undefined) continue // entered, though its answer was lost
        t.ok(row.Version >= told.version, 'nothing acknowledged is lost')
        if (row.Version === told.version) t.strictSame(reads[0], told)
      }
      t.strictSame([...acknowledged.keys()], [], 'all that was acknowledged is there')
    },
  )
}
