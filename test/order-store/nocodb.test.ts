import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { buildApp } from '../../src/app.js'
import { encodeCell } from '../../src/order-store/nocodb/cell-codec.js'
import {
  ORDER_FIELDS,
  DEFAULT_TITLES,
  parseColumnTitles,
  type OrderField,
  type Row,
} from '../../src/order-store/nocodb/columns.js'
import {
  createNocoDbClient,
  type NocoDbRequest,
} from '../../src/order-store/nocodb/nocodb-client.js'
import { NocoDbError } from '../../src/order-store/nocodb/nocodb-error.js'
import { createKeyedMutex } from '../../src/order-store/nocodb/keyed-mutex.js'
import {
  parseRecord,
  serializeRecord,
  toRecordedOrder,
} from '../../src/order-store/nocodb/order-record.js'
import {
  createBackOff,
  createRequestBudget,
  type Priority,
} from '../../src/order-store/nocodb/request-budget.js'
import { parseRow } from '../../src/order-store/nocodb/parse-row.js'
import { startReplicaWorker } from '../../src/order-store/nocodb/replica-client.js'
import { findSchemaMismatches } from '../../src/order-store/nocodb/schema-check.js'
import { buildFreshnessView } from '../../src/portal/freshness-view.js'
import { temporaryFolder } from '../support/app.js'
import { order, randomOrders } from '../support/orders.js'
import { until } from '../support/until.js'

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

t.test('limits the requests in any second', async (t) => {
  const budget = createRequestBudget(20)
  const started: number[] = []
  const acquire = async (): Promise<void> => {
    await budget.acquire('urgent')
    started.push(performance.now())
  }
  const first = Array.from({ length: 30 }, acquire)
  await sleep(700)
  await Promise.all([...first, ...Array.from({ length: 25 }, acquire)])
  started.forEach((at, i) => {
    const twentieth = started[i + 20]
    // On a busy machine a request may start late, but not early.
    if (twentieth !== undefined) t.ok(twentieth - at >= 800, `${twentieth - at} ms`)
  })
  t.ok((started.at(-1) ?? 0) - (started[0] ?? 0) < 2_500, 'uses the whole budget')
})

t.test('supports fractional limits', async (t) => {
  const started: number[] = []
  const budget = createRequestBudget(2.5)
  await Promise.all(
    Array.from({ length: 5 }, async () => {
      await budget.acquire('urgent')
      started.push(performance.now())
    }),
  )
  t.ok((started[4] ?? 0) - (started[0] ?? 0) >= 1_400)
})

t.test('sends urgent requests first without starving background requests', async (t) => {
  const budget = createRequestBudget(100)
  const order: string[] = []
  budget.pause(50)
  const acquire = async (priority: Priority): Promise<void> => {
    await budget.acquire(priority)
    order.push(priority)
  }
  await Promise.all([
    ...Array.from({ length: 3 }, () => acquire('background')),
    ...Array.from({ length: 20 }, () => acquire('urgent')),
  ])
  t.strictSame(order.slice(0, 8), Array(8).fill('urgent'))
  t.equal(order[8], 'background')
  t.equal(order[17], 'background')
  t.equal(order.length, 23)
})

t.test('removes an aborted request from the queue', async (t) => {
  const budget = createRequestBudget(100)
  budget.pause(200)
  await t.rejects(budget.acquire('urgent', AbortSignal.timeout(20)))
  await t.rejects(budget.acquire('urgent', AbortSignal.abort()))
  t.ok(budget.getPauseMs() > 100)
  await budget.acquire('background')
  t.equal(budget.getPauseMs(), 0)
})

t.test('backs off exponentially with jitter up to a maximum', async (t) => {
  const backOff = createBackOff({ minMs: 100, maxMs: 1_000 })
  const delays = Array.from({ length: 40 }, () => backOff.nextDelayMs())
  delays.forEach((ms, i) => {
    const maxMs = Math.min(100 * 2 ** i, 1_000)
    t.ok(ms >= maxMs / 2 && ms <= maxMs)
  })
  t.ok(new Set(delays.slice(10)).size > 20)
  backOff.reset()
  t.ok(backOff.nextDelayMs() <= 100)
})

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
    t.ok(performance.now() - startedAt < 3_000)
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
  for (const retryAfter of ['1', new Date(Date.now() + 2_500).toUTCString()]) {
    const requests: number[] = []
    const url = await serve(t, (_request, reply) => {
      requests.push(performance.now())
      if (requests.length === 1) reply.writeHead(429, { 'retry-after': retryAfter }).end('{}')
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
  const work = (name: string, ms: number) => async (): Promise<void> => {
    await sleep(ms)
    done.push(name)
    if (name === 'a2') throw new Error('fails')
  }
  const all = await Promise.allSettled([
    mutex('a', work('a1', 60)),
    mutex('a', work('a2', 1)),
    mutex('a', work('a3', 1)),
    mutex('b', work('b1', 10)),
  ])
  t.strictSame(done, ['b1', 'a1', 'a2', 'a3'])
  t.strictSame(
    all.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})

t.test('parses column titles and rejects invalid ones', async (t) => {
  t.match(parseColumnTitles('customerName=Customer, amountMinor = Total price'), {
    customerName: 'Customer',
    amountMinor: 'Total price',
    vesselName: 'VesselName',
  })
  for (const invalid of [
    'name=Customer',
    'customerName',
    'customerName=',
    'customerName=A=B',
    'customerName=A,customerName=B',
    'customerName=VesselName',
    'customerName=A,vesselName=a',
    'customerName=Id',
    'customerName=a)b',
    'customerName=a"b',
    'toString=a',
    ',',
  ]) {
    t.equal(parseColumnTitles(invalid), null, invalid)
  }
})

/** The row of an order, as NocoDB returns it. */
function toRow(order: ReturnType<typeof randomOrders>[number]): Row {
  const cells = ORDER_FIELDS.map((field) => {
    const cell = encodeCell(field, order[field])
    const isTimestamp = typeof cell === 'string' && /^\d{4}-\d\d-\d\dT.*Z$/.test(cell)
    const returned = isTimestamp ? `${cell.slice(0, 19).replace('T', ' ')}+00:00` : cell
    return [DEFAULT_TITLES[field], field.endsWith('At') ? returned : cell]
  })
  return {
    ...Object.fromEntries(cells),
    Id: Number(order.id),
    CreatedAt: '2026-11-20 09:30:00+00:00',
    UpdatedAt: '2026-11-20 09:31:00+00:00',
    Version: order.version,
    WriteToken: 'token',
    Record: serializeRecord({
      order: toRecordedOrder(order),
      by: 'ann',
      request: null,
      history: [],
    }),
  }
}

t.test('reads every order from its row unchanged', async (t) => {
  fc.assert(
    fc.property(order(7), (written) => {
      const result = parseRow(toRow(written), DEFAULT_TITLES)
      if (!result.ok) throw new Error(JSON.stringify(result.errors))
      t.strictSame(result.parsed.order, written)
      t.notOk(result.parsed.isEdited)
    }),
    { numRuns: 200 },
  )
})

t.test('detects an edit of one cell as the only change', async (t) => {
  const edits: Partial<Record<OrderField, [cell: unknown, value: unknown]>> = {
    status: ['Refunded', 'refunded'],
    customerName: ['Another name', 'Another name'],
    customerEmail: ['else@example.com', 'else@example.com'],
    vesselName: ['', null],
    imoNumber: ['IMO 9241061', '9241061'],
    co2eKg: ['123.5', 123.5],
    amountMinor: ['77', 77],
    currency: ['nok', 'NOK'],
    notes: ['new\nnotes', 'new\nnotes'],
    placedAt: ['2026-01-02 03:04:05+00:00', '2026-01-02T03:04:05.000Z'],
  }
  for (const [field, [cell, value]] of Object.entries(edits)) {
    const [written] = randomOrders(1, 5).map((one) => ({
      ...one,
      status: 'paid' as const,
      vesselName: 'Aurora',
      imoNumber: '9811000',
      notes: 'old',
      currency: 'EUR',
    }))
    if (written === undefined) return
    const row = { ...toRow(written), [DEFAULT_TITLES[field as OrderField]]: cell }
    const result = parseRow(row, DEFAULT_TITLES)
    t.ok(result.ok, field)
    if (!result.ok) continue
    const { order: now, history, isEdited } = result.parsed
    t.match(now, { [field]: value, version: written.version + 1 })
    t.ok(isEdited)
    t.strictSame(history, [
      {
        at: '2026-11-20T09:31:00.000Z',
        by: 'NocoDB',
        version: written.version + 1,
        changes: [{ field, from: written[field as OrderField], to: value }],
      },
    ])
  }
})

t.test('never throws for a row with arbitrary cells', async (t) => {
  const row = fc.dictionary(
    fc.constantFrom(...Object.values(DEFAULT_TITLES), 'CreatedAt', 'UpdatedAt'),
    fc.oneof(fc.jsonValue(), fc.string(), fc.constantFrom('9'.repeat(400), '\ud800', '2026-13-01')),
  )
  let valid = 0
  fc.assert(
    fc.property(row, fc.option(order(3)), (cells, written) => {
      const whole = { ...(written === null ? {} : toRow(written)), ...cells, Id: 3 }
      if (parseRow(whole, DEFAULT_TITLES).ok) valid++
    }),
    { numRuns: 2_000 },
  )
  t.ok(valid > 0)
})

t.test('truncates the history in a row but keeps the newest entry', async (t) => {
  const [one] = randomOrders(1)
  if (one === undefined) return
  const entry = (version: number, size: number) => ({
    at: '2026-11-20T09:30:00.000Z',
    by: 'ann',
    version,
    changes: [{ field: 'notes', from: '', to: 'é'.repeat(size) }],
    token: 'x',
  })
  const store = (entries: number, size: number) => {
    const history = Array.from({ length: entries }, (_, i) => entry(i + 2, size))
    const cell = serializeRecord({ order: toRecordedOrder(one), by: 'ann', request: null, history })
    return { cell, history: parseRecord(cell)?.history ?? [] }
  }
  t.equal(store(100, 10).history.length, 100)
  const many = store(2_000, 10)
  t.ok(many.history.length < 500 && many.cell.length < 64 * 1024)
  t.equal(many.history.at(-1)?.version, 2_001)
  t.equal(store(3, 50_000).history.length, 1)
  for (const wrong of ['', '{', '[]', 'null', '{"order":{},"by":"x","history":[]}', 7, null]) {
    t.equal(parseRecord(wrong), null)
  }
})

t.test('reports each invalid column', async (t) => {
  const column = (title: string, type: string, choices: string[] = []) => ({
    ...{ id: title, title, type, choices, rawChoices: [] },
  })
  const found = findSchemaMismatches(
    [column('CustomerName', 'Number'), column('Status', 'SingleSelect', ['paid', 'pending'])],
    DEFAULT_TITLES,
  )
  const reasons = new Map(found.map(({ title, reason }) => [title, reason]))
  t.equal(reasons.size, 20)
  t.match(reasons.get('CustomerName'), /is of type Number; it must be SingleLineText/)
  t.equal(
    reasons.get('Status'),
    'is missing the options processing, fulfilled, refunded, cancelled',
  )
  t.equal(reasons.get('Version'), 'is missing')
})

t.test('requires all NocoDB variables or none', async (t) => {
  const whole = {
    DATABASE_BASE_URL: 'https://nocodb.example.com/',
    DATABASE_BASE_ID: 'pabc',
    DATABASE_API_KEY: 'secret-key',
    DATABASE_ORDERS_TABLE_ID: 'mabc',
  }
  const getConfigError = async (environment: NodeJS.ProcessEnv): Promise<string> => {
    try {
      await (await buildApp({ environment: { LOG_LEVEL: 'silent', ...environment } })).close()
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    return 'started'
  }
  for (const name of Object.keys(whole)) {
    const error = await getConfigError({ ...whole, [name]: ' ' })
    t.match(error, `${name} is required because other NocoDB variables are set`)
    t.equal(error.split('\n').length, 2, 'reports no other error')
    t.notMatch(error, 'secret-key')
  }
  const invalid = await getConfigError({
    DATABASE_BASE_URL: 'https://user:password@nocodb.example.com',
    DATABASE_BASE_ID: 'a/b',
    DATABASE_API_KEY: 'a b',
    DATABASE_ORDERS_TABLE_ID: '../x',
    NOCODB_COLUMNS: 'x=y',
    NOCODB_SYNC_INTERVAL: '0',
    NOCODB_REQUESTS_PER_SECOND: 'many',
  })
  for (const name of [...Object.keys(whole), 'NOCODB_COLUMNS', 'NOCODB_SYNC_INTERVAL']) {
    t.match(invalid, `  ${name} must be`)
  }
  t.match(invalid, 'NOCODB_REQUESTS_PER_SECOND must be')
  t.notMatch(invalid, /password/)
})

t.test('describes outdated orders and the reason', (t) => {
  const now = Date.parse('2026-11-20T14:07:30Z')
  const reader = { locale: 'en-GB', timeZone: 'Europe/Paris', now }
  const view = (asOf: string | null, problem: string | null, isWritable = false) =>
    buildFreshnessView({ asOf, problem, isWritable }, reader)
  t.equal(buildFreshnessView(null, reader), null, 'a store in SQLite is never outdated')
  t.equal(view('2026-11-20T14:07:00Z', null), null)
  t.equal(view(null, 'Orders are loading'), null, 'pages show this themselves')
  t.strictSame(view('2026-11-20T14:02:20Z', 'NocoDB cannot be reached'), {
    asOf: '2026-11-20T14:02:20Z',
    time: '15:02',
    ago: '5 min ago',
    timeZone: 'Europe/Paris',
    text: 'NocoDB cannot be reached. Until that is over, changes cannot be saved.',
  })
  t.match(view('2026-11-20T14:07:00Z', 'x'), { ago: 'less than a minute ago' })
  t.match(view('2026-11-19T23:30:00Z', 'x'), { time: '00:30', ago: '14 hr ago' })
  t.match(view('2026-11-18T09:00:00Z', 'x'), { time: '18 Nov 2026, 10:00', ago: '2 days ago' })
  t.match(view('2026-11-20T14:00:00Z', 'NocoDB responds slowly', true), {
    text: 'NocoDB responds slowly.',
  })
  t.end()
})

t.test('rejects a change if the worker is not running', async (t) => {
  let failures = 0
  const { log } = Fastify()
  log.error = () => {
    failures++
  }
  const settings = {
    baseUrl: 'http://127.0.0.1:1',
    baseId: 'b',
    tableId: 't',
    token: TOKEN,
    titles: DEFAULT_TITLES,
    requestsPerSecond: 4,
    syncIntervalMs: 5_000,
  }
  const path = join(temporaryFolder(t), 'missing', 'replica.db')
  const replicaState = { isLoaded: true, asOf: new Date().toISOString() }
  const worker = startReplicaWorker({ path, settings }, replicaState, log, () => undefined)
  await until(async () => failures === 1)
  await sleep(300)
  const response = worker
    .write({
      type: 'apply',
      id: '1',
      command: { type: 'cancel' },
      context: { by: 'ann@example.com', ifVersions: null },
    })
    .catch((error: unknown) => error)
  await worker.close()
  t.match(await Promise.race([response, sleep(5_000, 'no response')]), { statusCode: 503 })
})
