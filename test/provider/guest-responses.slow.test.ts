import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { Registry } from 'prom-client'
import t, { type Test } from 'tap'
import { createOffsetOrderSource } from '../../src/provider/order-source-client.js'
import { openUpstream } from '../../src/provider/upstream.js'
import { startApp } from '../support/app.js'
import { rawSocket } from '../support/raw-http.js'
import {
  upstreamEnvironment,
  recordingUpstream,
  UPSTREAM_TOKEN,
} from '../support/recording-upstream.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'
import { waitUntil } from '../support/wait-for.js'
import { nodeRequest, type NodeResponse } from '../support/node-request.js'

const MOUNT = '/api/ordersource'
const CALLERS = 12
/** Enough for a received request to be forwarded or to join another. */
const SETTLE_MS = 100

interface PendingRequest {
  request: IncomingMessage
  response: ServerResponse
}

/** Starts the service with a provider that responds when the test releases it. */
async function startProxy(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const upstream = await recordingUpstream(t)
  const pending: PendingRequest[] = []
  upstream.respond = (request, response) => pending.push({ request, response })
  const started = await startApp(t, {
    ADMIN_ACCOUNTS,
    // Longer than any wait in these tests
    ORDERSOURCE_TIMEOUT_MS: '60000',
    ...upstreamEnvironment(upstream.url, environment),
  })
  const { url, app } = started
  const bearer = { authorization: `Bearer ${await signIn(url)}` }
  let received = 0
  app.server.on('request', () => received++)

  /** Waits until the service has received and processed this many requests since the start. */
  async function waitForReceived(requests: number): Promise<void> {
    if (!(await waitUntil(() => received >= requests))) throw new Error(`${received} received`)
    await sleep(SETTLE_MS)
  }

  /** Waits until this many requests are pending at the provider. */
  async function waitForPending(requests: number): Promise<void> {
    if (!(await waitUntil(() => pending.length >= requests))) throw new Error(`${pending.length}`)
    await sleep(SETTLE_MS)
  }

  const send = (path = '/portfolios', headers: Record<string, string> = {}, method = 'GET') =>
    nodeRequest(`${url}${MOUNT}${path}`, { method, headers })

  /** Responds to all pending requests, each with its number. */
  function respondToAll(headers: Record<string, string | string[]> = {}): void {
    for (const [index, { response }] of pending.splice(0).entries()) {
      respond(response, JSON.stringify({ request: index }), headers)
    }
  }

  return {
    ...started,
    upstream,
    pending,
    bearer,
    send,
    waitForReceived,
    waitForPending,
    respondToAll,
  }
}

function respond(
  response: ServerResponse | undefined,
  body: string,
  headers: Record<string, string | string[]> = {},
): void {
  const head = { 'content-type': 'application/json', 'content-length': String(body.length) }
  response?.writeHead(200, { ...head, ...headers }).end(body)
}

/** Opens a connection that requests the portfolios and can be closed. */
async function openCaller(url: string): Promise<Socket> {
  const socket = await rawSocket(url)
  socket.on('error', () => undefined)
  socket.write(`GET ${MOUNT}/portfolios HTTP/1.1\r\nhost: x\r\n\r\n`)
  return socket
}

const getText = ({ body }: NodeResponse): string => body.toString()

// Sharing

t.test('shares one upstream request between identical concurrent requests', async (t) => {
  const { send, upstream, respondToAll, waitForPending, waitForReceived, bearer, log } =
    await startProxy(t)
  const sent = Array.from({ length: CALLERS }, (_, index) =>
    send('/portfolios', { 'x-request-id': `caller-${index}` }),
  )
  sent.push(send('/portfolios', bearer), send('/portfolios', { cookie: 'any=1' }))
  await waitForReceived(CALLERS + 2)
  await waitForPending(1)
  respondToAll({ 'cache-control': 'public, max-age=60', etag: '"a"' })
  const responses = await Promise.all(sent)
  t.equal(upstream.requests.length, 1)
  t.match(upstream.requests[0], { method: 'GET', url: '/v1/portfolios' })
  for (const [index, response] of responses.entries()) {
    t.match(response, { status: 200, headers: { etag: '"a"', 'content-length': '13' } })
    t.equal(getText(response), '{"request":0}')
    const isAnonymous = index < CALLERS
    if (isAnonymous) t.equal(response.headers['x-request-id'], `caller-${index}`)
    const cacheControl = isAnonymous ? 'public, max-age=60' : 'no-store'
    t.equal(response.headers['cache-control'], cacheControl, 'depends on the caller')
  }

  const next = send()
  await waitForPending(1)
  respondToAll()
  t.equal((await next).status, 200)
  t.equal(upstream.requests.length, 2, 'nothing is cached')
  t.notOk(
    log.some(({ level }) => Number(level) >= 40),
    'no warnings',
  )
})

t.test('sends requests that differ in any forwarded part separately', async (t) => {
  const { send, upstream, respondToAll, waitForPending, bearer, waitForReceived } =
    await startProxy(t, {
      ORDERSOURCE_PUBLIC_ROUTES: 'GET /portfolios,POST /portfolios,GET /other',
    })
  const shared: Parameters<typeof send>[] = [
    ['/portfolios'],
    ['/portfolios?page=2'],
    ['/other'],
    ['/portfolios', { accept: 'text/csv' }],
    ['/portfolios', { 'accept-language': 'de' }],
    ['/portfolios', { 'if-none-match': '"a"' }],
    ['/portfolios', { 'if-match': '"a"' }],
    ['/portfolios', { 'idempotency-key': 'a' }],
  ]
  const notShared: Parameters<typeof send>[] = [
    ['/portfolios', {}, 'HEAD'],
    ['/portfolios', {}, 'POST'],
    ['/offset-orders', bearer],
    ['/offset-orders', { ...bearer, accept: 'text/csv' }],
  ]
  const sent = [...shared, ...shared, ...notShared, ...notShared].map((one) => send(...one))
  await waitForReceived(2 * (shared.length + notShared.length))
  await waitForPending(shared.length + 2 * notShared.length)
  t.equal(upstream.requests.length, shared.length + 2 * notShared.length)
  respondToAll()
  for (const { status } of await Promise.all(sent)) t.equal(status, 200)
})

t.test('shares responses that are private or must not be stored', async (t) => {
  // Every request carries the same token, so the provider cannot distinguish the callers.
  const { send, upstream, respondToAll, waitForPending, waitForReceived } = await startProxy(t)
  for (const [index, cacheControl] of ['no-store', 'private, max-age=60'].entries()) {
    const sent = Array.from({ length: CALLERS }, () => send())
    await waitForReceived(CALLERS * (index + 1))
    await waitForPending(1)
    respondToAll({ 'cache-control': cacheControl })
    for (const response of await Promise.all(sent)) t.equal(getText(response), '{"request":0}')
    t.equal(upstream.requests.length, index + 1)
  }
})

t.test('does not share long responses and responses of unknown length', async (t) => {
  const { send, pending, upstream, waitForPending, waitForReceived } = await startProxy(t)
  const long = Buffer.alloc(200_000, 'x')
  for (const head of [{ 'content-length': String(long.length) }, { 'x-chunked': 'yes' }]) {
    const before = upstream.requests.length
    const sent = Array.from({ length: 4 }, () => send('/portfolios', { accept: String(before) }))
    await waitForReceived(before === 0 ? 4 : 8)
    let responses = 0
    while (responses < 4) {
      await waitForPending(1)
      for (const { response } of pending.splice(0)) {
        responses++
        response.writeHead(200, { 'content-type': 'application/json', ...head }).end(long)
      }
    }
    for (const { body } of await Promise.all(sent)) t.ok(body.equals(long))
    t.equal(upstream.requests.length - before, 4)
  }
})

t.test('shares empty responses', async (t) => {
  const { send, pending, upstream, waitForPending, waitForReceived } = await startProxy(t)
  for (const [index, status] of [304, 204].entries()) {
    const sent = [1, 2, 3].map(() => send('/portfolios', { 'if-none-match': '"a"' }))
    await waitForReceived(3 * (index + 1))
    await waitForPending(1)
    for (const { response } of pending.splice(0)) response.writeHead(status, { etag: '"a"' }).end()
    for (const response of await Promise.all(sent)) {
      t.match(response, { status, headers: { etag: '"a"' }, body: Buffer.alloc(0) })
    }
    t.equal(upstream.requests.length, index + 1)
  }
})

t.test('does not join a request whose response has started', async (t) => {
  const { send, pending, upstream, waitForPending, waitForReceived, respondToAll } =
    await startProxy(t)
  const early = [send(), send()]
  await waitForReceived(2)
  await waitForPending(1)
  const [started] = pending.splice(0)
  started?.response.writeHead(200, { 'content-type': 'application/json', 'content-length': '13' })
  started?.response.write('{"started":')
  await sleep(SETTLE_MS)
  const late = send()
  await waitForPending(1)
  respondToAll()
  t.equal(getText(await late), '{"request":0}')
  started?.response.end('1}')
  t.same((await Promise.all(early)).map(getText), ['{"started":1}', '{"started":1}'])
  t.equal(upstream.requests.length, 2)
})

// Cancellation

t.test('responds to the other callers if the first one disconnects', async (t) => {
  const { url, send, upstream, waitForPending, waitForReceived, respondToAll, pending } =
    await startProxy(t)
  const first = await openCaller(url)
  await waitForPending(1)
  const sent = [send(), send()]
  await waitForReceived(3)
  first.destroy()
  await sleep(SETTLE_MS)
  t.notOk(pending[0]?.response.destroyed, 'the upstream request continues')
  respondToAll()
  t.same((await Promise.all(sent)).map(getText), ['{"request":0}', '{"request":0}'])
  t.equal(upstream.requests.length, 1)
})

t.test('a later caller does not join a request whose caller has disconnected', async (t) => {
  const { url, send, upstream, waitForPending, waitForReceived, respondToAll } = await startProxy(t)
  const sockets = [await openCaller(url), await openCaller(url)]
  await waitForReceived(2)
  await waitForPending(1)
  for (const socket of sockets) socket.destroy()
  await sleep(SETTLE_MS)
  const next = send()
  await waitForReceived(3)
  await waitForPending(2)
  respondToAll()
  t.equal(getText(await next), '{"request":1}')
  t.equal(upstream.requests.length, 2)
})

t.test('cancels a streamed response when its caller disconnects', async (t) => {
  const { url, waitForPending, waitForReceived, pending } = await startProxy(t)
  const sockets = [await openCaller(url), await openCaller(url)]
  await waitForReceived(2)
  const responses: ServerResponse[] = []
  for (let i = 0; i < 2; i++) {
    await waitForPending(1)
    for (const { response } of pending.splice(0)) {
      response.writeHead(200, { 'content-type': 'application/json' }).write('{')
      responses.push(response)
    }
  }
  await sleep(SETTLE_MS)
  sockets[0]?.destroy()
  t.ok(await waitUntil(() => responses[0]?.destroyed === true))
  await sleep(SETTLE_MS)
  t.equal(responses[1]?.destroyed, false)
  sockets[1]?.destroy()
  t.ok(await waitUntil(() => responses[1]?.destroyed === true))
})

// Failures

t.test('reports a failure to every caller and counts it once', async (t) => {
  const { url, send, upstream, waitForReceived, pending } = await startProxy(t, {
    ORDERSOURCE_TIMEOUT_MS: '1500',
  })
  const timedOut = Array.from({ length: CALLERS }, () => send())
  for (const response of await Promise.all(timedOut)) t.equal(response.status, 504)
  t.equal(upstream.requests.length, 1)
  pending.splice(0)

  const interrupted = Array.from({ length: CALLERS }, () => send())
  await waitForReceived(2 * CALLERS)
  for (const { response } of pending.splice(0)) {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '9' })
    response.write('{')
    await sleep(SETTLE_MS)
    response.destroy()
  }
  for (const response of await Promise.all(interrupted)) {
    t.equal(response.status, 502)
    t.match(response.headers['content-type'], /problem/)
  }
  t.equal(upstream.requests.length, 2)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  t.match(metrics, /_count\{route="portfolios",outcome="timeout"\} 1\n/)
  t.match(metrics, /_count\{route="portfolios",outcome="invalid_response"\} 1\n/)
})

t.test('passes on the status of an error whose body is slow or interrupted', async (t) => {
  const { send, pending, waitForReceived, waitForPending } = await startProxy(t)
  const endings = [() => undefined, ({ response }: PendingRequest) => response.destroy()]
  for (const [index, end] of endings.entries()) {
    const sent = [send(), send(), send()]
    await waitForReceived(3 * (index + 1))
    await waitForPending(1)
    const [one] = pending.splice(0)
    one?.response.writeHead(503, { 'retry-after': '9', 'content-length': '20' }).write('{')
    await sleep(SETTLE_MS)
    if (one) end(one)
    for (const response of await Promise.all(sent)) {
      t.match(response, { status: 503, headers: { 'retry-after': '9' } })
    }
  }
})

t.test('shows a shared error to administrators only, without the token', async (t) => {
  const { send, pending, bearer, waitForPending, waitForReceived } = await startProxy(t)
  const sent = [send(), send('/portfolios', bearer), send()]
  await waitForReceived(3)
  await waitForPending(1)
  const body = JSON.stringify({ message: `the token ${UPSTREAM_TOKEN} is valid, the disk is full` })
  for (const { response } of pending.splice(0)) {
    response
      .writeHead(500, { 'content-type': 'application/json', 'content-length': body.length })
      .end(body)
  }
  const [guest, administrator, otherGuest] = await Promise.all(sent)
  for (const response of [guest, otherGuest]) {
    t.equal(response?.status, 500)
    t.match(response?.body.toString(), 'The order source returned an error.')
    t.notMatch(response?.body.toString(), 'disk')
  }
  t.match(administrator?.body.toString(), 'the disk is full')
  t.notMatch(administrator?.body.toString(), UPSTREAM_TOKEN)
})

// Invalidation

t.test('does not join a read that began before a write, even a failed one', async (t) => {
  const { send, pending, bearer, waitForPending } = await startProxy(t)
  for (const [end, status] of [
    [(response?: ServerResponse) => respond(response, '"saved"'), 200],
    [(response?: ServerResponse) => response?.destroy(), 502],
  ] as const) {
    const before = send()
    await waitForPending(1)
    const [old] = pending.splice(0)
    const write = send('/portfolios/1', bearer, 'PUT')
    await waitForPending(1)
    end(pending.splice(0)[0]?.response)
    t.equal((await write).status, status)
    const after = send()
    await waitForPending(1)
    respond(pending.splice(0)[0]?.response, '"new"')
    t.equal(getText(await after), '"new"')
    respond(old?.response, '"old"')
    t.equal(getText(await before), '"old"')
  }
})

t.test('counts orders that the client places as writes', async (t) => {
  const upstream = await recordingUpstream(t)
  const pending: PendingRequest[] = []
  upstream.respond = (request, response) => pending.push({ request, response })
  const opened = openUpstream(
    {
      ORDERSOURCE_BASE_URL: upstream.url,
      ORDERSOURCE_API_TOKEN: UPSTREAM_TOKEN,
      ORDERSOURCE_TIMEOUT_MS: 60_000,
    },
    new Registry(),
  )
  if (opened === null) throw new Error('not configured')
  t.teardown(() => opened.close())
  const read = () => opened.request({ method: 'GET', path: '/v1/portfolios', headers: {} }, true)

  const reads = [read(), read()]
  t.ok(await waitUntil(() => pending.length === 1))
  const order = { tons: 1, portfolioId: 1, note: '', dryRun: false }
  const placed = createOffsetOrderSource(opened).placeOrder(order, 'key')
  t.ok(await waitUntil(() => pending.length === 2))
  respond(pending[1]?.response, '{"id":1,"tons":1,"amountCharged":100}')
  t.match(await placed, { outcome: 'ok' })
  reads.push(read())
  t.ok(await waitUntil(() => pending.length === 3))
  t.same(
    upstream.requests.map(({ method }) => method),
    ['GET', 'POST', 'GET'],
  )
  for (const one of [pending[0], pending[2]]) respond(one?.response, '[]')
  await Promise.all(reads)
})

t.test('sends every caller the response to its own request, whoever disconnects', async (t) => {
  const { url, upstream } = await startProxy(t)
  upstream.respond = (request, response) => {
    const text = JSON.stringify(request.url)
    const headers = {
      'content-type': 'application/json',
      ...(text.includes('n=4') ? {} : { 'content-length': text.length }),
    }
    setTimeout(
      () => response.writeHead(200, headers).end(text),
      20 + (upstream.requests.length % 7),
    )
  }
  let completed = 0
  async function call(index: number): Promise<void> {
    await sleep((index * 7) % 90)
    const path = `/portfolios?n=${index % 5}`
    const disconnects = index % 3 === 0
    const abort = new AbortController()
    const sent = fetch(`${url}${MOUNT}${path}`, { signal: abort.signal })
    if (disconnects) setTimeout(() => abort.abort(), (index * 11) % 40)
    try {
      const response = await sent
      const body: unknown = await response.json()
      t.equal(response.status, 200)
      t.equal(body, `/v1${path}`)
      completed++
    } catch (error) {
      if (!disconnects) throw error
    }
  }
  const calls = 300
  await Promise.all(Array.from({ length: calls }, (_, index) => call(index)))
  t.ok(completed >= (calls * 2) / 3)
  t.ok(upstream.requests.length < calls, `${upstream.requests.length} requests of ${calls} calls`)
})
