import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request as httpRequest, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { SECRET, startApp, temporaryFolder } from '../support/app.js'
import { createCertificate } from '../support/certificate.js'
import { distPath } from '../support/dist-path.js'
import { freePort } from '../support/free-port.js'
import { nodeRequest, type NodeResponse } from '../support/node-request.js'
import { rawSocket } from '../support/raw-http.js'
import {
  rawUpstream,
  recordingUpstream,
  upstreamEnvironment,
} from '../support/recording-upstream.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'
import { waitUntil } from '../support/wait-for.js'

const MOUNT = '/api/ordersource'
const TIMEOUT_MS = 400
/** Limit of a whole request: six time-outs. */
const WHOLE_MS = 6 * TIMEOUT_MS
/** Tolerance for a busy machine. */
const SLACK_MS = 10_000

const OK = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}'

async function startProxy(t: Test, upstreamUrl: string, more: NodeJS.ProcessEnv = {}) {
  const started = await startApp(t, {
    ADMIN_ACCOUNTS,
    ORDERSOURCE_TIMEOUT_MS: String(TIMEOUT_MS),
    ...upstreamEnvironment(upstreamUrl, more),
  })
  const bearer = { authorization: `Bearer ${await signIn(started.url)}` }
  const send = (method = 'GET', path = '/portfolios', headers: Record<string, string> = {}) =>
    nodeRequest(`${started.url}${MOUNT}${path}`, { method, headers: { ...bearer, ...headers } })
  return { ...started, bearer, send }
}

const getDetail = ({ body }: NodeResponse): string =>
  (JSON.parse(body.toString()) as { detail: string }).detail

/** Returns the duration of a task in milliseconds, and its result. */
async function timed<T>(workload: Promise<T>): Promise<[milliseconds: number, result: T]> {
  const begin = performance.now()
  const result = await workload
  return [performance.now() - begin, result]
}

/** Waits for a condition. */
async function waitFor(holds: () => boolean): Promise<void> {
  if (!(await waitUntil(holds))) throw new Error('the condition was not met')
}

// Before the response

t.test('distinguishes an unreachable provider from a slow one', async (t) => {
  const closedPort = `http://127.0.0.1:${await freePort()}/v1`
  for (const url of [closedPort, 'https://no-such-host.invalid/v1']) {
    const { send, url: service } = await startProxy(t, url)
    for (const method of ['GET', 'POST']) {
      const response = await send(method)
      t.match(response, { status: 502, headers: { 'content-type': 'application/problem+json' } })
      t.equal(getDetail(response), 'The order source is unreachable. Try again later.')
      t.equal(response.headers['cache-control'], 'no-store')
    }
    t.equal((await fetch(service)).status, 200)
  }
  const silent = await rawUpstream(t, () => undefined)
  const { send } = await startProxy(t, silent.url)
  for (const method of ['GET', 'POST', 'HEAD']) {
    const [milliseconds, response] = await timed(send(method))
    t.equal(response.status, 504, method)
    t.ok(milliseconds >= TIMEOUT_MS * 0.9, `${milliseconds} ms`)
    t.ok(milliseconds < TIMEOUT_MS + SLACK_MS, `${milliseconds} ms`)
  }
  t.equal(silent.received.length, 3, 'no retries')
  await waitFor(() => silent.open() === 0)
})

t.test('retries GET and HEAD once after a lost connection', async (t) => {
  const reset = (socket: Socket) => void socket.resetAndDestroy()
  const hangUp = (socket: Socket) => void socket.end()
  const midway = (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-ty')
  const upstream = await rawUpstream(t)
  const { send } = await startProxy(t, upstream.url)
  for (const lose of [reset, hangUp, midway]) {
    for (const [method, attempts, status] of [
      ['GET', 2, 200],
      ['HEAD', 2, 200],
      ['POST', 1, 502],
      ['PUT', 1, 502],
      ['DELETE', 1, 502],
      ['OPTIONS', 1, 502],
    ] as const) {
      const before = upstream.received.length
      upstream.behave = (socket, connection) => {
        if (connection === before) lose(socket)
        else socket.end(method === 'HEAD' ? OK.replace('{}', '') : OK)
      }
      t.equal((await send(method)).status, status, `${lose.name} ${method}`)
      t.equal(upstream.received.length - before, attempts, `${lose.name} ${method}`)
      upstream.behave = (socket) => void socket.end(OK)
      t.equal((await send()).status, 200, 'recovered')
    }
    const before = upstream.received.length
    upstream.behave = lose
    t.equal((await send()).status, 502)
    t.equal(upstream.received.length - before, 2, 'one retry')
    upstream.behave = (socket) => void socket.end(OK)
    t.equal((await send()).status, 200)
  }
  const closing = await rawUpstream(
    t,
    () => undefined,
    (socket) => void socket.end(),
  )
  t.equal((await (await startProxy(t, closing.url)).send('POST')).status, 502)
  t.ok(closing.received.length <= 1)
})

t.test('loses no requests if the provider closes idle connections', async (t) => {
  const upstream = await recordingUpstream(t)
  upstream.respond = (request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    response.once('finish', () => setImmediate(() => request.socket.destroy()))
  }
  const { send } = await startProxy(t, upstream.url)
  const statuses = new Set<number>()
  for (let i = 0; i < 100; i++) statuses.add((await send(i % 4 === 0 ? 'POST' : 'GET')).status)
  t.same([...statuses], [200])
  const posts = upstream.requests.filter(({ method }) => method === 'POST')
  t.equal(posts.length, 25, 'each exactly once')
})

t.test('never sends an unsafe request on a reused connection', async (t) => {
  const used = new Set<number>()
  const upstream = await rawUpstream(t, (socket, connection) => {
    // Responds once per connection, like a server that closes them too early.
    if (used.has(connection)) socket.resetAndDestroy()
    else socket.write(OK)
    used.add(connection)
  })
  const { send } = await startProxy(t, upstream.url)
  for (const method of ['POST', 'GET', 'POST', 'DELETE', 'GET', 'POST', 'PATCH']) {
    t.equal((await send(method)).status, 200, method)
  }
})

t.test('times out if the response does not start', async (t) => {
  const trickle = (text: string, everyMs: number) => (socket: Socket) => {
    let at = 0
    const timer = setInterval(() => socket.write(text[at++ % text.length] ?? ''), everyMs)
    socket.once('close', () => clearInterval(timer))
  }
  for (const [what, behave] of [
    ['half a status line', (socket: Socket) => void socket.write('HTTP/1.1 20')],
    ['a slow head', trickle('HTTP/1.1 200 OK\r\nx: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy', 50)],
    ['an endless head', (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\na: b\r\n')],
    [
      'endless early hints',
      (socket: Socket) => {
        const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'), 40)
        socket.once('close', () => clearInterval(timer))
      },
    ],
  ] as const) {
    const upstream = await rawUpstream(t, behave)
    const { send } = await startProxy(t, upstream.url)
    const [milliseconds, { status }] = await timed(send())
    t.equal(status, 504, what)
    t.ok(milliseconds < TIMEOUT_MS + SLACK_MS, `${what}: ${milliseconds} ms`)
    t.equal(upstream.received.length, 1, what)
  }
})

t.test('responds 502 to invalid HTTP', async (t) => {
  const bodyless = 'content-length: 0\r\n\r\n'
  const upstream = await rawUpstream(t)
  const { send } = await startProxy(t, upstream.url)
  for (const [what, reply, status] of [
    ['garbage', '\0\x01\x02garbage\r\n\r\n', 502],
    ['a page without a head', '<html>hello</html>', 502],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', 502],
    ['a status above 599', `HTTP/1.1 999 Odd\r\n${bodyless}`, 502],
    ['a status of two digits', `HTTP/1.1 20 OK\r\n${bodyless}`, 502],
    ['status 000', `HTTP/1.1 000 None\r\n${bodyless}`, 502],
    [
      'an upgrade',
      'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n',
      502,
    ],
    [
      'a flood of headers',
      `HTTP/1.1 200 OK\r\n${'x: yyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(40_000)}\r\n`,
      502,
    ],
    ['an endless header', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(1_000_000)}`, 502],
    ['a header with a NUL', `HTTP/1.1 200 OK\r\netag: "\0"\r\n${bodyless}`, 502],
    ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}', 502],
    [
      'length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}',
      502,
    ],
    ['a negative length', 'HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\n{}', 502],
    ['a body over the limit', 'HTTP/1.1 200 OK\r\ncontent-length: 1073741824\r\n\r\n{', 502],
    ['early hints, then a response', `HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n${OK}`, 200],
    ['102 Processing, then a response', `HTTP/1.1 102 Processing\r\n\r\n${OK}`, 200],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-type: application/json\r\n\r\n{}', 200],
    ['two responses', OK + OK, 200],
  ] as const) {
    for (const method of ['GET', 'POST']) {
      upstream.behave = (socket) => {
        socket.write(reply)
        if (reply.startsWith('HTTP/1.0')) socket.end()
      }
      const [milliseconds, response] = await timed(send(method))
      t.equal(response.status, status, `${what}, ${method}`)
      t.ok(milliseconds < TIMEOUT_MS + SLACK_MS, `${what}: ${milliseconds} ms`)
      if (status === 200) t.equal(response.body.toString(), '{}')
      t.equal((await send(method)).status, status, 'and again')
      upstream.behave = (socket) => void socket.end(OK)
      t.equal((await send()).status, 200, `recovered after ${what}`)
    }
  }
})

t.test('survives an unexpected 100 Continue', async (t) => {
  const upstream = await rawUpstream(t, (socket) => {
    socket.write('HTTP/1.1 100 Continue\r\n\r\n')
    setTimeout(() => socket.write(OK), 20)
  })
  const { send } = await startProxy(t, upstream.url)
  for (const method of ['GET', 'POST']) {
    const [milliseconds, { status }] = await timed(send(method))
    t.ok(status === 502 || status === 200)
    t.ok(milliseconds < TIMEOUT_MS + SLACK_MS)
  }
})

// During the response

t.test('never completes an interrupted response', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n'
  const reset = (socket: Socket) => void socket.resetAndDestroy()
  const end = (socket: Socket) => void socket.end()
  const wait = () => undefined
  const upstream = await rawUpstream(t)
  const { send, url } = await startProxy(t, upstream.url)
  for (const [what, text, then] of [
    ['a Content-Length that is too long', `${head}content-length: 9\r\n\r\n{"a":`, end],
    ['a reset', `${head}content-length: 9\r\n\r\n{"a":`, reset],
    ['a reset in chunks', `${head}transfer-encoding: chunked\r\n\r\n2\r\n{"\r\n`, reset],
    ['chunks without an end', `${head}transfer-encoding: chunked\r\n\r\n2\r\n{"\r\n`, end],
    ['an invalid chunk', `${head}transfer-encoding: chunked\r\n\r\n2\r\n{"\r\nzz\r\n`, wait],
    [
      'a chunk with too much data',
      `${head}transfer-encoding: chunked\r\n\r\n1\r\n{"}\r\n0\r\n\r\n`,
      wait,
    ],
    ['an endless pause', `${head}content-length: 9\r\n\r\n{"a":`, wait],
    ['an endless pause after the head', `${head}content-length: 9\r\n\r\n`, wait],
  ] as const) {
    for (const coding of ['identity', 'gzip', 'br']) {
      upstream.behave = (socket) => {
        socket.write(text)
        setTimeout(() => then(socket), 60)
      }
      const [milliseconds, response] = await timed(
        send('GET', '/portfolios', { 'accept-encoding': coding }).catch((error: unknown) => error),
      )
      const isBroken = response instanceof Error || (response as NodeResponse).status >= 500
      t.ok(isBroken, `${what}, ${coding}`)
      t.ok(milliseconds < TIMEOUT_MS + SLACK_MS, `${what}: ${milliseconds} ms`)
      t.equal((await fetch(`${url}/healthz`)).status, 200)
      await waitFor(() => upstream.open() === 0)
    }
  }
})

t.test('removes upstream headers from the error if a body fails before it is sent', async (t) => {
  const upstream = await rawUpstream(t, (socket) => {
    socket.write(
      'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\netag: "1"\r\ncache-control: public, max-age=99\r\ncontent-length: 9\r\n\r\n',
    )
  })
  const { url } = await startProxy(t, upstream.url)
  const response = await nodeRequest(`${url}${MOUNT}/portfolios`)
  t.match(response, {
    status: 504,
    headers: { 'content-type': 'application/problem+json', 'cache-control': 'no-store' },
  })
  for (const name of ['etag', 'content-disposition']) t.notOk(name in response.headers, name)
})

t.test('ignores data after the end of a response', async (t) => {
  const upstream = await rawUpstream(t, (socket) => {
    socket.write(`${OK}HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\n"wrong"`)
  })
  const { send } = await startProxy(t, upstream.url)
  for (let i = 0; i < 20; i++) {
    const { status, body } = await send()
    t.ok(status === 502 || body.toString() === '{}', `${status} ${body.toString()}`)
  }
})

t.test('interrupts a response that takes too long', async (t) => {
  const upstream = await rawUpstream(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n')
    const timer = setInterval(() => socket.write(' '), TIMEOUT_MS / 4)
    socket.once('close', () => clearInterval(timer))
  })
  const { send } = await startProxy(t, upstream.url)
  const [milliseconds, error] = await timed(send().catch((error: unknown) => error))
  t.type(error, Error)
  t.ok(milliseconds > TIMEOUT_MS * 3, `${milliseconds} ms`)
  t.ok(milliseconds < WHOLE_MS + SLACK_MS, `${milliseconds} ms`)
  await waitFor(() => upstream.open() === 0)
})

t.test('allows a response body to pause for the time-out', async (t) => {
  const timeoutMs = 900
  const upstream = await rawUpstream(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{')
    setTimeout(() => socket.write('}'), timeoutMs * 0.9)
  })
  const { send } = await startProxy(t, upstream.url, { ORDERSOURCE_TIMEOUT_MS: String(timeoutMs) })
  // undici’s timers have a resolution of half a second.
  const responses = Array.from({ length: 5 }, async (_, index) => {
    await sleep(index * 100)
    return send('GET', `/portfolios?page=${index}`)
  })
  for (const { status, body } of await Promise.all(responses)) {
    t.equal(status, 200)
    t.equal(body.toString(), '{}')
  }
})

t.test('rejects responses with a content coding', async (t) => {
  const upstream = await recordingUpstream(t)
  const body = gzipSync('{"token":"in here"}')
  upstream.respond = (request, response) => {
    t.equal(request.headers['accept-encoding'], 'identity')
    response.writeHead(request.url?.includes('bad') ? 500 : 200, {
      'content-type': 'application/json',
      'content-encoding': 'gzip',
      'content-length': body.length,
    })
    response.end(body)
  }
  const { send } = await startProxy(t, upstream.url)
  for (const path of ['/portfolios', '/portfolios?bad']) {
    const response = await send('GET', path, { 'accept-encoding': 'identity' })
    t.equal(response.status, 502)
    t.equal(response.headers['content-encoding'], undefined)
    t.match(response.body.toString(), 'an invalid response')
  }
})

// Disconnecting callers and endless bodies

t.test('cancels the upstream request when the caller disconnects', async (t) => {
  const upstream = await rawUpstream(t, (socket, _connection, text) => {
    if (text.startsWith('GET /v1/body')) {
      socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n{')
    }
  })
  const { url, bearer } = await startProxy(t, upstream.url, { ORDERSOURCE_TIMEOUT_MS: '20000' })
  const head = `host: x\r\nauthorization: ${bearer.authorization}\r\n`
  for (const [what, request] of [
    ['before the response', `GET ${MOUNT}/silence HTTP/1.1\r\n${head}\r\n`],
    ['during the response', `GET ${MOUNT}/body HTTP/1.1\r\n${head}\r\n`],
    [
      'before the response to a body',
      `POST ${MOUNT}/silence HTTP/1.1\r\n${head}content-length: 2\r\n\r\n{}`,
    ],
    ['during the body', `POST ${MOUNT}/silence HTTP/1.1\r\n${head}content-length: 99\r\n\r\n{`],
    [
      'during a chunked body',
      `POST ${MOUNT}/silence HTTP/1.1\r\n${head}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n`,
    ],
  ] as const) {
    for (const leave of [
      (socket: Socket) => void socket.destroy(),
      (socket: Socket) => void socket.resetAndDestroy(),
    ]) {
      const socket = await rawSocket(url)
      socket.on('error', () => undefined).resume()
      socket.write(request)
      await waitFor(() => upstream.open() === 1)
      await sleep(30)
      leave(socket)
      await waitFor(() => upstream.open() === 0)
      t.pass(what)
    }
  }
  const text = await (await fetch(`${url}/metrics`)).text()
  t.match(text, /outcome="cancelled"/)
})

t.test('rejects bodies beyond the limit, with and without Content-Length', async (t) => {
  const upstream = await recordingUpstream(t)
  const { url, bearer } = await startProxy(t, upstream.url, {
    ORDERSOURCE_TIMEOUT_MS: '60000',
  })
  const limit = 10 * 1024 * 1024
  const post = (headers: Record<string, string>, bytes: number) =>
    nodeRequest(`${url}${MOUNT}/offset-orders`, {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/octet-stream', ...headers },
      body: Buffer.alloc(bytes, 'x'),
    })
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    t.equal((await post(headers, limit)).status, 200)
    t.equal(upstream.requests.at(-1)?.body.length, limit)
  }
  const socket = await rawSocket(url)
  socket.write(
    `POST ${MOUNT}/offset-orders HTTP/1.1\r\nhost: x\r\nauthorization: ${bearer.authorization}\r\ncontent-length: ${limit + 1}\r\n\r\n`,
  )
  const [first] = (await once(socket, 'data')) as [Buffer]
  t.match(first.toString(), /^HTTP\/1\.1 413 /, 'before the body is sent')
  socket.destroy()
  t.equal(upstream.requests.length, 2)

  const endless = await post({ 'transfer-encoding': 'chunked' }, limit + 100_000)
  t.equal(endless.status, 413)
  t.equal(getDetail(endless), 'The body must not exceed 10 MB.')
  t.notOk(
    upstream.requests.slice(2).some(({ body }) => body !== ''),
    'the provider never received the end',
  )
  t.match(await (await fetch(`${url}/readyz`)).json(), {
    checks: { orderSource: { detail: 'reachable' } },
  })
})

t.test('returns a response that arrives before the body is sent', async (t) => {
  const upstream = await rawUpstream(t, (socket) => {
    socket.pause()
    socket.write(
      'HTTP/1.1 402 Payment Required\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
    )
  })
  const { url, bearer, send } = await startProxy(t, upstream.url)
  for (const headers of [{}, { 'transfer-encoding': 'chunked' }]) {
    const response = await nodeRequest(`${url}${MOUNT}/offset-orders`, {
      method: 'POST',
      headers: { ...bearer, ...headers },
      body: Buffer.alloc(8 * 1024 * 1024),
    })
    t.equal(response.status, 402)
    t.equal(response.body.toString(), '{}')
  }
  t.equal((await send('POST')).status, 402)
})

t.test('times out if the provider does not read a long body', async (t) => {
  const upstream = await rawUpstream(t, (socket) => void socket.pause())
  const { url, bearer } = await startProxy(t, upstream.url)
  const body = Buffer.alloc(10 * 1024 * 1024)
  const headers = {
    ...bearer,
    'content-type': 'application/octet-stream',
    'content-length': String(body.length),
  }
  for (const method of ['POST', 'OPTIONS']) {
    const [milliseconds, response] = await timed(
      nodeRequest(`${url}${MOUNT}/offset-orders`, { method, headers, body }),
    )
    t.equal(response.status, 504, method)
    t.ok(milliseconds > WHOLE_MS * 0.9, `${milliseconds} ms`)
    t.ok(milliseconds < WHOLE_MS + SLACK_MS, `${milliseconds} ms`)
  }
})

t.test('drops queued requests of callers who disconnect', async (t) => {
  const upstream = await rawUpstream(t, () => undefined)
  const { url, bearer, send } = await startProxy(t, upstream.url, {
    ORDERSOURCE_TIMEOUT_MS: '20000',
  })
  // More than the pool has connections
  const senders = await Promise.all(Array.from({ length: 100 }, () => rawSocket(url)))
  for (const socket of senders) {
    socket.on('error', () => undefined)
    const head = `${MOUNT}/offset-orders HTTP/1.1\r\nhost: x\r\nauthorization: ${bearer.authorization}\r\n`
    // Only the body shows a pipelined request that its sender has disconnected.
    socket.write(`GET ${head}\r\nPOST ${head}content-length: 9000\r\n\r\n{`)
  }
  const posts = () => upstream.received.filter((data) => data.startsWith('POST')).length
  await waitFor(() => upstream.received.length >= 128)
  for (const socket of senders) socket.destroy()
  await waitFor(() => upstream.open() === 0)
  t.equal(posts(), 64, 'the queued ones are not sent')
  upstream.behave = (socket) => void socket.end(OK)
  t.equal((await send('POST')).status, 200)
})

t.test('does not count the time to send the body against the provider', async (t) => {
  const upstream = await recordingUpstream(t)
  const { url, bearer } = await startProxy(t, upstream.url)
  const answered = new Promise<number>((resolve, reject) => {
    const request = httpRequest(
      `${url}${MOUNT}/offset-orders`,
      { method: 'POST', headers: { ...bearer, 'content-length': '8' } },
      (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      },
    )
    request.on('error', reject)
    const timer = setInterval(() => request.write('12'), TIMEOUT_MS / 2)
    setTimeout(() => {
      clearInterval(timer)
      request.end()
    }, TIMEOUT_MS * 2.2)
  })
  t.equal(await answered, 200)
  t.equal(upstream.requests.at(-1)?.body, '12121212')
})

t.test('responds 408 to slow senders without opening the circuit', async (t) => {
  const upstream = await recordingUpstream(t)
  const { url, bearer, send } = await startProxy(t, upstream.url)
  const sendSlowly = () =>
    new Promise<NodeResponse>((resolve, reject) => {
      const path = `${url}${MOUNT}/offset-orders`
      const request = httpRequest(path, { method: 'POST', headers: bearer }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('end', () => {
          clearInterval(timer)
          request.destroy()
          const { statusCode = 0, headers } = response
          resolve({ status: statusCode, headers, body: Buffer.concat(parts) })
        })
      })
      request.on('error', reject)
      const timer = setInterval(() => request.write('12'), TIMEOUT_MS / 4)
    })
  for (const response of await Promise.all(Array.from({ length: 6 }, sendSlowly))) {
    t.equal(response.status, 408)
    t.equal(getDetail(response), 'The body was sent too slowly.')
  }
  t.equal((await send()).status, 200)
})

t.test('reports a connection reset during a long body without opening the circuit', async (t) => {
  const upstream = await rawUpstream(t, (socket, _call, text) => {
    if (text.startsWith('GET')) socket.end(OK)
    else socket.resetAndDestroy()
  })
  const { url, bearer, send } = await startProxy(t, upstream.url)
  const kilobytes = [100, 1_000, 8_000]
  for (const [index, size] of [...kilobytes, ...kilobytes].entries()) {
    const response = await nodeRequest(`${url}${MOUNT}/offset-orders`, {
      method: 'POST',
      headers: { ...bearer, ...(index < 3 ? {} : { 'transfer-encoding': 'chunked' }) },
      body: Buffer.alloc(size * 1000),
    })
    t.equal(response.status, 502)
    t.match(getDetail(response), /closed the connection before it responded/)
  }
  t.equal((await send()).status, 200, 'the circuit is closed')
  t.equal(
    getDetail(await send('POST')),
    'The order source is unreachable. Try again later.',
    'a short body is reported as a lost connection',
  )
})

// Circuit breaker and connections

t.test(
  'opens the circuit after five failures and closes it after a successful probe',
  async (t) => {
    let isBack = false
    const upstream = await rawUpstream(t, (socket) => {
      if (isBack) socket.write(OK)
      else socket.resetAndDestroy()
    })
    const { send, url } = await startProxy(t, upstream.url)
    for (let i = 0; i < 5; i++) t.equal((await send('POST')).status, 502)
    const connections = upstream.received.length
    t.equal(connections, 5)
    for (const method of ['GET', 'POST', 'HEAD', 'POST']) {
      const response = await send(method)
      t.equal(response.status, 502)
      t.match(response.headers['retry-after'], /^[1-3]$/)
    }
    t.equal(upstream.received.length, connections, 'nothing is sent')
    const ready = await fetch(`${url}/readyz`)
    t.equal(ready.status, 200)
    t.match(await ready.json(), { checks: { orderSource: { detail: 'unreachable' } } })

    await sleep(3_050)
    await Promise.all(Array.from({ length: 10 }, () => send('POST')))
    t.equal(upstream.received.length, connections + 1, 'one probe')
    isBack = true
    await sleep(3_050)
    t.equal((await send('POST')).status, 200)
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => (await send()).status),
    )
    t.same(new Set(statuses), new Set([200]))
  },
)

t.test('does not count disconnected callers as failures', async (t) => {
  const upstream = await rawUpstream(t, (socket, _connection, text) => {
    if (text.startsWith('GET /v1/portfolios')) socket.write(OK)
  })
  const { url, bearer, send } = await startProxy(t, upstream.url, {
    ORDERSOURCE_TIMEOUT_MS: '20000',
  })
  for (let i = 0; i < 8; i++) {
    const socket = await rawSocket(url)
    socket.write(
      `GET ${MOUNT}/silence HTTP/1.1\r\nhost: x\r\nauthorization: ${bearer.authorization}\r\n\r\n`,
    )
    await waitFor(() => upstream.open() === 1)
    socket.destroy()
    await waitFor(() => upstream.open() === 0)
  }
  t.equal((await send()).status, 200)
})

t.test('times out requests that wait for a connection', async (t) => {
  const upstream = await rawUpstream(t, () => undefined)
  // Long enough for all to be in progress before the first times out.
  const timeoutMs = 4_000
  const { send } = await startProxy(t, upstream.url, { ORDERSOURCE_TIMEOUT_MS: String(timeoutMs) })
  const [milliseconds, responses] = await timed(
    Promise.all(Array.from({ length: 150 }, () => send())),
  )
  t.same(new Set(responses.map(({ status }) => status)), new Set([504]))
  t.ok(milliseconds < timeoutMs + SLACK_MS, `${milliseconds} ms`)
  await waitFor(() => upstream.open() === 0)
})

t.test('stops gracefully while requests are in progress', async (t) => {
  const upstream = await rawUpstream(t, () => undefined)
  const { app, send } = await startProxy(t, upstream.url)
  const pending = send()
  await waitFor(() => upstream.open() === 1)
  const [milliseconds] = await timed(app.close())
  t.ok(milliseconds < TIMEOUT_MS + SLACK_MS)
  t.equal((await pending).status, 504)
})

// TLS

interface TlsUpstream {
  url: string
  requests: () => number
}

async function tlsUpstream(
  t: Test,
  certificate: { key: string; cert: string },
): Promise<TlsUpstream> {
  let requests = 0
  const server = createTlsServer(certificate, (_request, response: ServerResponse) => {
    requests++
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `https://127.0.0.1:${port}/v1`, requests: () => requests }
}

/** Starts the service in its own process. */
async function startProcess(
  t: Test,
  environment: NodeJS.ProcessEnv,
): Promise<{ url: string; pid: number }> {
  const port = await freePort()
  const child = spawn(process.execPath, [distPath('server.js')], {
    cwd: temporaryFolder(t),
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      SESSION_SECRET: SECRET,
      ADMIN_ACCOUNTS,
      LOG_LEVEL: 'warn',
      SHED_AFTER_MS: '60000',
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'ignore'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const url = `http://127.0.0.1:${port}`
  const isThere = async () => (await fetch(`${url}/healthz`).catch(() => null))?.ok === true
  if (!(await waitUntil(isThere))) throw new Error('the service did not start')
  return { url, pid: child.pid ?? 0 }
}

t.test('verifies certificates', async (t) => {
  for (const [what, certificate] of [
    ['self-signed', createCertificate()],
    ['for another address', createCertificate({ address: '127.0.0.2' })],
    ['expired', createCertificate({ days: 0 })],
  ] as const) {
    const upstream = await tlsUpstream(t, certificate)
    const { send, log } = await startProxy(t, upstream.url)
    for (const method of ['GET', 'POST']) t.equal((await send(method)).status, 502, what)
    t.equal(upstream.requests(), 0, 'the token was not sent')
    t.match(JSON.stringify(log), /CERT/, 'the log contains the reason')
  }
  const plain = await rawUpstream(t, (socket) => void socket.write(OK))
  const { send } = await startProxy(t, plain.url.replace('http:', 'https:'))
  t.equal((await send()).status, 502, 'no TLS at all')
  t.notMatch(plain.received.join(), /authorization/i)
})

t.test('accepts additional certificate authorities, but cannot disable verification', async (t) => {
  const certificate = createCertificate()
  const file = join(temporaryFolder(t), 'authority.pem')
  writeFileSync(file, certificate.cert)
  const upstream = await tlsUpstream(t, certificate)
  const trusting = await startProcess(t, {
    ...upstreamEnvironment(upstream.url),
    NODE_EXTRA_CA_CERTS: file,
  })
  t.equal((await fetch(`${trusting.url}${MOUNT}/portfolios`)).status, 200)
  const careless = await startProcess(t, {
    ...upstreamEnvironment(upstream.url),
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  })
  t.equal((await fetch(`${careless.url}${MOUNT}/portfolios`)).status, 502)
  t.equal(upstream.requests(), 1)
})

// Memory

const MEGABYTE = 1024 * 1024

/** Resident memory of the service, MB. */
async function getMemoryMb(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / MEGABYTE
}

t.test('streams long bodies in both directions without buffering them', async (t) => {
  const chunk = Buffer.alloc(MEGABYTE, 'x')
  let received = 0
  const upstream = await rawUpstream(t, (socket, _connection, text) => {
    received += text.length
    if (!text.startsWith('GET')) return
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n')
    const pour = () => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', pour)
    pour()
  })
  const { url } = await startProcess(t, {
    ...upstreamEnvironment(upstream.url),
    ORDERSOURCE_PUBLIC_ROUTES: 'POST /sink',
    ORDERSOURCE_TIMEOUT_MS: '20000',
  })
  const authorization = `Bearer ${await signIn(url)}`

  // Warm up, then open connections that read nothing.
  await fetch(`${url}${MOUNT}/nothing`)
  const before = await getMemoryMb(url)
  const idle = await Promise.all(Array.from({ length: 20 }, () => rawSocket(url)))
  for (const socket of idle) {
    socket.pause()
    socket.write(
      `GET ${MOUNT}/endless HTTP/1.1\r\nhost: x\r\nauthorization: ${authorization}\r\n\r\n`,
    )
  }
  await sleep(1_500)
  const held = await getMemoryMb(url)
  for (const socket of idle) socket.destroy()
  t.ok(held - before < 60, `20 idle readers: ${Math.round(held - before)} MB`)

  let bytes = 0
  let peak = 0
  const client = httpRequest(`${url}${MOUNT}/endless`, { headers: { authorization } }).end()
  const [response] = (await once(client, 'response')) as [NodeJS.ReadableStream]
  const watch = setInterval(() => {
    void getMemoryMb(url).then((memory) => (peak = Math.max(peak, memory)))
  }, 100)
  response.on('data', (part: Buffer) => (bytes += part.length))
  await new Promise((resolve) => response.once('error', resolve).once('end', resolve))
  clearInterval(watch)
  t.ok(bytes > 90 * MEGABYTE && bytes <= 101 * MEGABYTE, `cut after ${bytes} bytes`)
  t.ok(peak - before < 80, `a reader of 100 MB: ${Math.round(peak - before)} MB`)

  received = 0
  const uploads = Array.from({ length: 20 }, async () => {
    const socket = await rawSocket(url)
    socket.on('error', () => undefined).resume()
    socket.write(
      `POST ${MOUNT}/sink HTTP/1.1\r\nhost: x\r\ncontent-length: ${10 * MEGABYTE}\r\n\r\n`,
    )
    for (let i = 0; i < 10; i++) if (!socket.write(chunk)) await once(socket, 'drain')
    return socket
  })
  const senders = await Promise.all(uploads)
  await waitFor(() => received >= 200 * MEGABYTE)
  const uploaded = await getMemoryMb(url)
  for (const socket of senders) socket.destroy()
  t.ok(uploaded - before < 100, `20 × 10 MB up: ${Math.round(uploaded - before)} MB`)
})
