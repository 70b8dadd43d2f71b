import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createKeyedMutex } from '../../src/database/state-store/state-store.js'
import {
  createNocoDbClient,
  NocoDbError,
  type NocoDbRequest,
} from '../../src/nocodb/nocodb-client.js'

const TOKEN = 'the-token-of-the-tests'

/** Starts an HTTP server; returns its URL. */
async function serve(t: Test, handler: RequestListener): Promise<string> {
  const server = createHttpServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Starts a TCP server; returns its URL. */
async function listen(t: Test, onSocket: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    onSocket(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function createClient(t: Test, baseUrl: string, requestsPerSecond = 1_000) {
  const client = createNocoDbClient({
    baseUrl,
    token: TOKEN,
    requestsPerSecond,
    limits: {
      connectMs: 300,
      responseMs: 300,
      totalMs: 900,
      maxWaitMs: 500,
      maxResponseBytes: 10_000,
    },
  })
  t.teardown(() => client.close())
  return client
}

const GET: NocoDbRequest = { method: 'GET', path: '/x', priority: 'urgent' }
const POST: NocoDbRequest = { method: 'POST', path: '/x', body: {}, priority: 'urgent' }

/** The error that a request fails with. */
async function getError(request: Promise<unknown>): Promise<NocoDbError> {
  try {
    await request
  } catch (error) {
    if (error instanceof NocoDbError) return error
    throw error
  }
  throw new Error('The request succeeded')
}

t.test('maps responses to error codes', async (t) => {
  const responses: [number, string, string, boolean][] = [
    [401, '{"error":"ERR_AUTHENTICATION_REQUIRED"}', 'unauthorized', false],
    [403, '{"msg":"no"}', 'unauthorized', false],
    [404, '{"error":"ERR_TABLE_NOT_FOUND","message":"m"}', 'table_not_found', false],
    [422, '{"error":"ERR_BASE_NOT_FOUND","message":"m"}', 'table_not_found', false],
    [404, '{"error":"ERR_RECORD_NOT_FOUND","message":"m"}', 'record_not_found', false],
    [404, '{"error":"ERR_FIELD_NOT_FOUND","message":"m"}', 'column_not_found', false],
    [404, '<h1>nginx</h1>', 'invalid_response', false],
    [302, '', 'invalid_response', false],
    [400, '{"msg":"Invalid value \\"secret name\\""}', 'value_rejected', false],
    [409, '{"msg":"duplicate"}', 'value_rejected', false],
    [422, '{"error":"ERR_INVALID_VALUE_FOR_FIELD"}', 'value_rejected', false],
    [431, '', 'invalid_response', false],
    [500, '{"msg":"sorry"}', 'server_error', true],
    [502, '<h1>nginx</h1>', 'server_error', true],
    [200, '<h1>Welcome</h1>', 'invalid_response', true],
    [200, '', 'invalid_response', true],
    [200, `"${'x'.repeat(20_000)}"`, 'response_too_large', true],
  ]
  for (const [status, body, errorCode, isIndeterminate] of responses) {
    const url = await serve(t, (request, reply) => {
      t.equal(request.headers['xc-token'], TOKEN)
      reply.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(body)
    })
    const error = await getError(createClient(t, url).request(POST))
    t.match(error, { errorCode, isIndeterminate }, `${status} ${body.slice(0, 40)}`)
    t.notMatch(JSON.stringify(error) + error.message, /secret name|token-of/)
    if (errorCode === 'value_rejected') {
      t.equal((await getError(createClient(t, url).request(GET))).errorCode, 'query_rejected')
    }
  }
})

t.test('times out in each phase of a request', async (t) => {
  const unreachable = await getError(createClient(t, 'http://127.0.0.1:1').request(POST))
  t.match(unreachable, { errorCode: 'unreachable', isIndeterminate: false })
  const nowhere = await getError(createClient(t, 'http://nowhere.invalid').request(POST))
  t.match(nowhere, { errorCode: 'unreachable', isIndeterminate: false })

  const silent = await listen(t, () => undefined)
  const cut = await listen(t, (socket) => socket.once('data', () => socket.destroy()))
  const noise = await listen(t, (socket) => socket.end('hello?\r\n\r\n'))
  const half = await listen(t, (socket) =>
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{"li')),
  )
  const drip = await listen(t, (socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 10000\r\n\r\n')
      const timer = setInterval(() => socket.write(' '), 50)
      socket.once('close', () => clearInterval(timer))
    }),
  )
  for (const url of [silent, cut, noise, half, drip]) {
    const startedAt = performance.now()
    const error = await getError(createClient(t, url).request(POST))
    t.match(error, { errorCode: 'no_response', isIndeterminate: true })
    t.ok(performance.now() - startedAt < 30_000)
  }
})

t.test('retries a read once if the connection was closed', async (t) => {
  let connections = 0
  const url = await serve(t, (request, reply) => {
    if (++connections === 1) request.socket.destroy()
    else reply.end('{"ok":true}')
  })
  t.strictSame(await createClient(t, url).request(GET), { ok: true })
  connections = 0
  t.match(await getError(createClient(t, url).request(POST)), { errorCode: 'no_response' })
  t.equal(connections, 1, 'does not retry a write')
})

t.test('applies Retry-After to all requests of the process', async (t) => {
  for (const getRetryAfter of [() => '2', () => new Date(Date.now() + 3_000).toUTCString()]) {
    const requests: number[] = []
    const url = await serve(t, (_request, reply) => {
      requests.push(performance.now())
      if (requests.length === 1) reply.writeHead(429, { 'retry-after': getRetryAfter() }).end('{}')
      else reply.end('{}')
    })
    const client = createClient(t, url)
    const first = await getError(client.request(GET))
    t.equal(first.errorCode, 'rate_limited')
    t.ok((first.retryAfterMs ?? 0) >= 500)
    const second = await getError(client.request(POST))
    t.match(second, { errorCode: 'rate_limited', isIndeterminate: false })
    t.ok((second.retryAfterMs ?? 0) > 300, 'reports the remaining time')
    await client.request({ ...GET, priority: 'background' })
    t.equal(requests.length, 2)
    t.ok((requests[1] ?? 0) - (requests[0] ?? 0) >= (first.retryAfterMs ?? 0) - 20)
  }
})

t.test('backs off after a 429 without Retry-After', async (t) => {
  const url = await serve(t, (_request, reply) => {
    reply.writeHead(429).end('{}')
  })
  const client = createClient(t, url)
  await getError(client.request(GET))
  t.ok(client.getPauseMs() > 2_000)
})

t.test('runs tasks of one key in order and tasks of other keys concurrently', async (t) => {
  const mutex = createKeyedMutex()
  const done: string[] = []
  const workload = (name: string, ms: number) => async (): Promise<void> => {
    await sleep(ms)
    done.push(name)
    if (name === 'a2') throw new Error('fails')
  }
  const all = await Promise.allSettled([
    mutex('a', workload('a1', 60)),
    mutex('a', workload('a2', 1)),
    mutex('a', workload('a3', 1)),
    mutex('b', workload('b1', 10)),
  ])
  t.strictSame(done, ['b1', 'a1', 'a2', 'a3'])
  t.strictSame(
    all.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})
