import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import t, { type Test } from 'tap'
import { startFakeProvider } from '../../src/demo/fake-provider/fake-provider.js'
import { COLUMN_FIELDS, COLUMNS } from '../../src/nocodb/columns.js'
import { freePort } from '../support/free-port.js'
import { startPostgres } from '../support/postgres.js'
import { UPSTREAM_TOKEN, upstreamEnvironment } from '../support/recording-upstream.js'
import { startService, type Service } from '../support/service.js'
import { postLogin, signIn, verify } from '../support/sign-in.js'
import { waitUntil } from '../support/wait-for.js'

/** NocoDB's response for an empty table. */
function emptyTable(url: string): unknown {
  if (url.includes('/meta/')) {
    const fields = COLUMN_FIELDS.map((field) => {
      const { title, nocoDbType: type, choices = [] } = COLUMNS[field]
      return { id: field, title, type, options: { choices: choices.map((title) => ({ title })) } }
    })
    return { fields }
  }
  if (/\/count\b/.test(url)) return { count: 0 }
  return { list: [], pageInfo: { isLastPage: true, totalRows: 0 } }
}

/** All dependencies of the service, which tests stop and start again at the same addresses. */
async function dependencies(t: Test) {
  const postgres = await startPostgres(t)
  const DATABASE_URL = await postgres.createDatabase()
  await postgres.kill()
  const [sourcePort, nocoDbPort] = [await freePort(), await freePort()]
  const source = () => startFakeProvider({ token: UPSTREAM_TOKEN, port: sourcePort })
  let running: { source: Awaited<ReturnType<typeof source>>; nocoDb: Server } | null = null

  async function start(): Promise<void> {
    await postgres.start()
    const nocoDb = createServer((request, response) => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(emptyTable(request.url ?? '')))
    }).listen(nocoDbPort, '127.0.0.1')
    await once(nocoDb, 'listening')
    running = { source: await source(), nocoDb }
  }
  async function stop(): Promise<void> {
    await postgres.kill()
    await running?.source.close()
    running?.nocoDb.closeAllConnections()
    running?.nocoDb.close()
    running = null
  }
  t.teardown(stop)
  const environment = {
    DATABASE_URL,
    ...upstreamEnvironment(`http://127.0.0.1:${sourcePort}/api`),
    DATABASE_BASE_URL: `http://127.0.0.1:${nocoDbPort}`,
    DATABASE_BASE_ID: 'base',
    DATABASE_API_KEY: 'key',
    DATABASE_ORDERS_TABLE_ID: 'table',
    NOCODB_SYNC_INTERVAL: '1',
  }
  return { environment, postgres, start, stop }
}

/** The status of `/readyz`, and the description of each part. */
async function readiness(url: string) {
  const response = await fetch(`${url}/readyz`)
  const { checks } = (await response.json()) as { checks: Record<string, { detail: string }> }
  const detail = (name: string): string => checks[name]?.detail ?? ''
  return {
    status: response.status,
    database: detail('database'),
    orders: detail('orders'),
    orderSource: detail('orderSource'),
  }
}

/** Longer than any response that does not wait. */
const QUICK_MS = 1_000

t.test('reports the loss of all dependencies, and recovers', async (t) => {
  const { environment, postgres, start, stop } = await dependencies(t)
  await start()
  const { url, process: service, ended } = await startService(t, environment)
  const getStatus = async (address: string) => {
    const response = await fetch(address)
    await response.arrayBuffer()
    return response.status
  }
  const isRecovered = async (url: string) => {
    const portfolios = await getStatus(`${url}/api/ordersource/portfolios`)
    const { status, database, orders, orderSource } = await readiness(url)
    const words = [database, orders, orderSource].join()
    return (
      portfolios === 200 &&
      status === 200 &&
      /^PostgreSQL responds,orders can be [^;]*$/.test(words)
    )
  }
  t.ok(await waitUntil(() => isRecovered(url), { everyMs: 100 }))
  const token = await signIn(url)
  const over = await signIn(url)
  await fetch(`${url}/api/admin/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${over}` },
  })

  for (let round = 0; round < 2; round++) {
    await stop()
    let late: Service | null = null
    if (round > 0) {
      // The start of a process needs the database, and nothing else.
      await postgres.start()
      late = await startService(t, environment)
      await postgres.kill()
    }
    // Guests share a response for five seconds.
    t.ok(
      await waitUntil(async () => (await getStatus(`${url}/api/ordersource/portfolios`)) === 502, {
        everyMs: 100,
      }),
    )
    t.ok(
      await waitUntil(async () =>
        (await readiness(url)).orders.startsWith('PostgreSQL is not available'),
      ),
    )
    t.match(await readiness(url), {
      status: 503,
      database: /^PostgreSQL is not available/,
      orders: /^PostgreSQL is not available/,
      orderSource: /unreachable|not answer/,
    })
    t.equal((await verify(url, token)).status, 503)
    t.equal((await postLogin(url)).status, 503)
    const begun = performance.now()
    for (const path of ['/healthz', '/calculator/fuel?quantity=5', '/healthz', '/metrics']) {
      t.equal(await getStatus(url + path), 200, path)
    }
    const tookMs = Math.round(performance.now() - begun)
    t.ok(tookMs < 4 * QUICK_MS, `${tookMs} ms`)
    if (late !== null) {
      t.match(await readiness(late.url), { status: 503, orders: /^PostgreSQL is not/ })
      t.equal(await getStatus(`${late.url}/healthz`), 200)
    }

    await start()
    for (const { url: address } of [{ url }, ...(late === null ? [] : [late])]) {
      t.ok(await waitUntil(() => isRecovered(address), { everyMs: 100 }), 'recovers')
      t.ok(await waitUntil(async () => (await verify(address, token)).status === 200))
      t.equal((await verify(address, over)).status, 401, 'ended sessions stay ended')
      const headers = { authorization: `Bearer ${token}` }
      const list = await fetch(`${address}/api/admin/orders`, { headers })
      t.equal(list.status, 200)
    }
  }
  service.kill('SIGTERM')
  t.equal(await ended, 0)
})
