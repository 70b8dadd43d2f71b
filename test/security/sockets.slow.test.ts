import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { startApp } from '../support/app.js'
import { rawSocket } from '../support/raw-http.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'

const MUTANTS = 1_500
const MAX_WAIT_MS = 20_000

const { url, log } = await startApp(t, { ADMIN_ACCOUNTS, RATE_LIMIT_PER_MINUTE: '1000000' })
const token = await signIn(url)

/** All that comes back for bytes, after which the client has no more to say. */
async function exchange(bytes: Buffer): Promise<string> {
  const socket = await rawSocket(url)
  let response = ''
  socket.setEncoding('latin1').on('data', (part) => (response += String(part)))
  // The service may close the connection while the client is still sending.
  socket.on('error', () => undefined)
  const closed = once(socket, 'close')
  const timer = setTimeout(() => socket.destroy(new Error('no end')), MAX_WAIT_MS)
  let isLate = false
  socket.on('error', ({ message }) => (isLate ||= message === 'no end'))
  socket.end(bytes)
  await closed
  clearTimeout(timer)
  assert.ok(!isLate, 'the connection is closed')
  return response
}

const getStatuses = (response: string): number[] =>
  [...response.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status))

const isAlive = async (): Promise<boolean> => (await fetch(`${url}/healthz`)).ok

const HEAD = 'host: localhost\r\n'
const LAST = `${HEAD}connection: close\r\n`
const JSON_HEAD = `${LAST}content-type: application/json\r\nauthorization: Bearer ${token}\r\n`
const POST = `POST /api/calculators/fuel/estimate HTTP/1.1\r\n${JSON_HEAD}`
const TRIP = '{"fuelType":"mgo","quantity":1,"unit":"kg"}'
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

t.test('rejects malformed HTTP, and serves valid HTTP', async (t) => {
  const tls = Buffer.from('16030100c8010000c40303', 'hex').toString('latin1')
  for (const [what, bytes, ...statuses] of [
    ['HTTP/1.0 without Host', 'GET / HTTP/1.0\r\n\r\n', 200],
    ['HTTP/1.0 with a body', `POST /api/admin/stats HTTP/1.0\r\ncontent-length: 2\r\n\r\n{}`, 401],
    [
      'two Host headers',
      'GET / HTTP/1.1\r\nhost: a.example\r\nhost: b.example\r\nconnection: close\r\n\r\n',
      400,
    ],
    ['HTTP/1.1 without Host', 'GET / HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    ['an empty Host', 'GET / HTTP/1.1\r\nhost:\r\nconnection: close\r\n\r\n', 200],
    ['a Host that is none', 'GET / HTTP/1.1\r\nhost: <pwned>\r\nconnection: close\r\n\r\n', 200],
    ['HTTP/0.9', 'GET /\r\n\r\n', 200],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
    ['HTTP/9.9', `GET / HTTP/9.9\r\n${LAST}\r\n`, 400],
    ['TLS', `${tls}${'\0'.repeat(200)}`, 400],
    ['nothing', ''],
    ['empty lines', '\r\n\r\n\r\n'],
    ['half a request', `GET / HTTP/1.1\r\nhost: loc`, 400],
    ['half a body', `${POST}content-length: 100\r\n\r\n${TRIP}`, 400],
    ['a small method', `get / HTTP/1.1\r\n${LAST}\r\n`, 400],
    ['an unknown method', `PWN / HTTP/1.1\r\n${LAST}\r\n`, 400],
    ['a tunnel', `CONNECT example.com:443 HTTP/1.1\r\n${LAST}\r\n`],
    ['all of the server', `OPTIONS * HTTP/1.1\r\n${LAST}\r\n`, 404],
    ['an address elsewhere', `GET http://evil.example/ HTTP/1.1\r\n${LAST}\r\n`, 200],
    ['an address of no scheme we know', `GET gopher://x/ HTTP/1.1\r\n${LAST}\r\n`, 404],
    ['an address that names nothing', `GET x HTTP/1.1\r\n${LAST}\r\n`, 400],
    ['a NUL in the address', `GET /\0 HTTP/1.1\r\n${LAST}\r\n`, 400],
    ['a byte beyond ASCII in the address', `GET /\xff HTTP/1.1\r\n${LAST}\r\n`, 400],
    ['a NUL in a header', `GET / HTTP/1.1\r\nx: a\0b\r\n${LAST}\r\n`, 400],
    ['a header without a name', `GET / HTTP/1.1\r\n: a\r\n${LAST}\r\n`, 400],
    ['a blank before the colon', `GET / HTTP/1.1\r\nx : a\r\n${LAST}\r\n`, 400],
    ['an endless header', `GET / HTTP/1.1\r\n${HEAD}connection: close\r\nx: a\r\n b\r\n\r\n`, 400],
    ['line feeds alone', `GET / HTTP/1.1\nhost: localhost\nconnection: close\n\n`, 400],
    ['a carriage return alone', `GET / HTTP/1.1\r\nx: a\rb\r\n${LAST}\r\n`, 400],
    ['3,000 headers', `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(3_000)}${LAST}\r\n`, 400],
    ['a header of 200 kB', `GET / HTTP/1.1\r\nx: ${'y'.repeat(200_000)}\r\n${LAST}\r\n`, 431],
    ['an address of 200 kB', `GET /${'y'.repeat(200_000)} HTTP/1.1\r\n${LAST}\r\n`, 431],
    [
      'an upgrade',
      `GET / HTTP/1.1\r\n${HEAD}connection: upgrade, close\r\nupgrade: h2c\r\n\r\n`,
      200,
    ],
    ['a wish nobody knows', `GET / HTTP/1.1\r\nexpect: pwned\r\n${LAST}\r\n`, 417],
    [
      'two requests at once',
      `GET /healthz HTTP/1.1\r\n${HEAD}\r\nGET / HTTP/1.1\r\n${LAST}\r\n`,
      200,
      200,
    ],
    ['a body by its length', `${POST}content-length: ${TRIP.length}\r\n\r\n${TRIP}`, 200],
    [
      'a body in chunks',
      `${POST}transfer-encoding: chunked\r\n\r\n${chunk(TRIP.slice(0, 9))}${chunk(TRIP.slice(9))}0\r\n\r\n`,
      200,
    ],
    [
      'trailers',
      `${POST}transfer-encoding: chunked\r\n\r\n${chunk(TRIP)}0\r\nauthorization: x\r\n\r\n`,
      200,
    ],
    [
      'a chunk of no size',
      `${POST}transfer-encoding: chunked\r\n\r\nxyz\r\n${TRIP}\r\n0\r\n\r\n`,
      400,
    ],
    [
      'a chunk below zero',
      `${POST}transfer-encoding: chunked\r\n\r\n-1\r\n${TRIP}\r\n0\r\n\r\n`,
      400,
    ],
    [
      'a chunk beyond all sizes',
      `${POST}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n${TRIP}`,
      400,
    ],
    [
      'a chunk that is shorter than its length',
      `${POST}transfer-encoding: chunked\r\n\r\nffff\r\n${TRIP}`,
      400,
    ],
    [
      'a chunk that is longer than its length',
      `${POST}transfer-encoding: chunked\r\n\r\n1\r\n${TRIP}\r\n0\r\n\r\n`,
      400,
    ],
    [
      'a chunk extension of 50 kB',
      `${POST}transfer-encoding: chunked\r\n\r\n1;${'x'.repeat(50_000)}\r\n{\r\n0\r\n\r\n`,
      413,
    ],
  ] as const) {
    const response = await exchange(Buffer.from(bytes, 'latin1'))
    t.strictSame(getStatuses(response), statuses, what)
    t.notMatch(response, /<pwned>|evil\.example|node_modules|\n\s+at /, what)
  }
  t.ok(await isAlive())
})

t.test('rejects request smuggling', async (t) => {
  const hidden = `GET /hidden HTTP/1.1\r\n${LAST}\r\n`
  const lengths = (...values: string[]) =>
    values.map((value) => `content-length: ${value}\r\n`).join('')
  const inChunks = (...values: string[]) =>
    values.map((value) => `transfer-encoding: ${value}\r\n`).join('')
  for (const head of [
    lengths('0') + inChunks('chunked'),
    inChunks('chunked') + lengths('0'),
    lengths('0', String(hidden.length)),
    lengths(`0, ${hidden.length}`),
    lengths('+0'),
    lengths('0x0'),
    lengths('-0'),
    lengths('0 0'),
    lengths('1e0'),
    lengths('99999999999999999999999'),
    inChunks('xchunked'),
    inChunks('chunked, identity'),
    inChunks('identity'),
    inChunks('chunked', 'identity'),
    inChunks('gzip, chunked') + lengths('0'),
    'transfer-encoding : chunked\r\n',
    'transfer-encoding:\x0bchunked\r\n',
    'content-length : 0\r\n',
    'x: y\ntransfer-encoding: chunked\r\n',
    'content-length: 0\n',
  ]) {
    const request = `POST /api/calculators/fuel/estimate HTTP/1.1\r\n${HEAD}content-type: application/json\r\n${head}\r\n0\r\n\r\n${hidden}`
    const response = await exchange(Buffer.from(request, 'latin1'))
    t.strictSame(getStatuses(response), [400], JSON.stringify(head))
  }
  t.notOk(
    log.some(({ path }) => path === '/hidden'),
    'serves none without a response',
  )
})

t.test('a client that disconnects within a body is not an error', async (t) => {
  const socket = await rawSocket(url)
  const id = 'gone-in-the-middle'
  socket.write(`${POST}x-request-id: ${id}\r\ncontent-length: 100\r\n\r\n{`)
  await (await fetch(`${url}/healthz`)).text()
  socket.resetAndDestroy()
  while (!log.some(({ reqId }) => reqId === id)) await sleep(20)
  const entries = log.filter(({ reqId }) => reqId === id)
  t.match(entries, [{ msg: 'request', aborted: true, level: 30 }])
  t.equal(entries.length, 1)
})

t.test('no byte sequence in a request brings the service down', async (t) => {
  const requests = [
    `${POST}content-length: ${TRIP.length}\r\n\r\n${TRIP}`,
    `${POST}transfer-encoding: chunked\r\n\r\n${chunk(TRIP)}0\r\n\r\n`,
    `GET /admin/orders?q=ann&status=paid HTTP/1.1\r\ncookie: clearwake=${token}\r\n${LAST}\r\n`,
    `GET /assets/x HTTP/1.1\r\nrange: bytes=0-1\r\nif-none-match: "x"\r\n${LAST}\r\n`,
    `GET /healthz HTTP/1.1\r\n${HEAD}\r\nHEAD / HTTP/1.1\r\n${LAST}\r\n`,
  ].map((text) => Buffer.from(text, 'latin1'))
  const edit = fc.record({
    at: fc.nat(100_000),
    removed: fc.nat(3),
    bytes: fc.oneof(
      fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
      fc
        .constantFrom('\r\n', '\n', '\r', '\r\n\r\n', '\0', ' ', ':', '%', '\t', 'x'.repeat(9_000))
        .map((text) => Buffer.from(text)),
    ),
  })
  const edited = fc
    .tuple(fc.constantFrom(...requests), fc.array(edit, { minLength: 1, maxLength: 3 }))
    .map(([request, edits]) =>
      edits
        .reduce((bytes, { at, removed, bytes: added }) => {
          const placeOrder = at % bytes.length
          return Buffer.concat([
            bytes.subarray(0, placeOrder),
            added,
            bytes.subarray(placeOrder + removed),
          ])
        }, request)
        .toString('latin1'),
    )
  await fc.assert(
    fc.asyncProperty(edited, async (bytes) => {
      const response = await exchange(Buffer.from(bytes, 'latin1'))
      assert.match(response, /^(?:HTTP\/1\.1 [1-4]\d\d |$)/)
      assert.ok(getStatuses(response).every((status) => status < 500))
      assert.doesNotMatch(response, /node_modules|\n\s+at |HPE_|FST_/)
    }),
    { numRuns: MUTANTS },
  )
  t.ok(await isAlive())
  t.notOk(log.some(({ level }) => Number(level) >= 50))
})
