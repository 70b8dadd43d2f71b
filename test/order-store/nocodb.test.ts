import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import { buildApp } from '../../src/app.js'
import { getBackOffMs } from '../../src/order-store/nocodb/back-off.js'
import { encodeCell } from '../../src/order-store/nocodb/cell-codec.js'
import {
  ORDER_FIELDS,
  DEFAULT_TITLES,
  parseColumnTitles,
  type OrderField,
} from '../../src/order-store/nocodb/columns.js'
import {
  createNocoDbClient,
  type NocoDbRequest,
} from '../../src/order-store/nocodb/nocodb-client.js'
import { NocoDbError } from '../../src/order-store/nocodb/nocodb-error.js'
import { toRecordedOrder } from '../../src/order-store/nocodb/order-cells.js'
import { createPerOrderMutex } from '../../src/order-store/nocodb/per-order-mutex.js'
import { parseRecord, serializeRecord } from '../../src/order-store/nocodb/history-record.js'
import { createRequestBudget } from '../../src/order-store/nocodb/request-budget.js'
import { parseRow, type Row } from '../../src/order-store/nocodb/parse-row.js'
import { startReplicaWorker } from '../../src/order-store/nocodb/replica-client.js'
import { findSchemaMismatches } from '../../src/order-store/nocodb/schema-check.js'
import { buildFreshnessView } from '../../src/portal/freshness-view.js'
import { temporaryFolder } from '../support/app.js'
import { order, randomOrders } from '../support/orders.js'
import { until } from '../support/until.js'

const TOKEN = 'the-token-of-the-tests'

/** A server that answers as a test says; its address. */
async function serve(t: Test, answer: RequestListener): Promise<string> {
  const server = createHttpServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A server that does with connections what a test says; its address. */
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

function clientOf(t: Test, baseUrl: string, requestsPerSecond = 1_000) {
  const client = createNocoDbClient({
    baseUrl,
    token: TOKEN,
    requestsPerSecond,
    limits: { connectMs: 300, answerMs: 300, wholeMs: 900, patienceMs: 500, bytes: 10_000 },
  })
  t.teardown(() => client.close())
  return client
}

const GET: NocoDbRequest = { method: 'GET', path: '/x', urgency: 'urgent' }
const POST: NocoDbRequest = { method: 'POST', path: '/x', body: {}, urgency: 'urgent' }

/** The error that asking ends in. */
async function troubleOf(asking: Promise<unknown>): Promise<NocoDbError> {
  try {
    await asking
  } catch (error) {
    if (error instanceof NocoDbError) return error
    throw error
  }
  throw new Error('it went well')
}

t.test('no second has more requests than the budget, whatever comes when', async (t) => {
  const budget = createRequestBudget(20)
  const begun: number[] = []
  const ask = async (): Promise<void> => {
    await budget.turn('urgent')
    begun.push(performance.now())
  }
  const asked = Array.from({ length: 30 }, ask)
  await sleep(700)
  await Promise.all([...asked, ...Array.from({ length: 25 }, ask)])
  begun.forEach((at, i) => {
    const twentieth = begun[i + 20]
    // A busy machine begins the first ones late, though not the next ones early.
    if (twentieth !== undefined) t.ok(twentieth - at >= 800, `${twentieth - at} ms`)
  })
  t.ok((begun.at(-1) ?? 0) - (begun[0] ?? 0) < 2_500, 'and no fewer than it allows')
})

t.test('a budget below one a second, or of a part, is kept too', async (t) => {
  const begun: number[] = []
  const budget = createRequestBudget(2.5)
  await Promise.all(
    Array.from({ length: 5 }, async () => {
      await budget.turn('urgent')
      begun.push(performance.now())
    }),
  )
  t.ok((begun[4] ?? 0) - (begun[0] ?? 0) >= 1_400)
})

t.test('what people wait for goes first, and the background goes on', async (t) => {
  const budget = createRequestBudget(100)
  const order: string[] = []
  budget.pause(50)
  const turn = async (urgency: 'urgent' | 'background'): Promise<void> => {
    await budget.turn(urgency)
    order.push(urgency)
  }
  await Promise.all([
    ...Array.from({ length: 3 }, () => turn('background')),
    ...Array.from({ length: 20 }, () => turn('urgent')),
  ])
  t.strictSame(order.slice(0, 8), Array(8).fill('urgent'))
  t.equal(order[8], 'background')
  t.equal(order[17], 'background')
  t.equal(order.length, 23)
})

t.test('who does not wait any longer leaves the queue', async (t) => {
  const budget = createRequestBudget(100)
  budget.pause(200)
  await t.rejects(budget.turn('urgent', AbortSignal.timeout(20)))
  await t.rejects(budget.turn('urgent', AbortSignal.abort()))
  t.ok(budget.pausedFor() > 100)
  await budget.turn('background')
  t.equal(budget.pausedFor(), 0)
})

t.test('waiting grows with each failure, differs by chance and has an end', async (t) => {
  const waits = getBackOffMs({ firstMs: 100, longestMs: 1_000 })
  const grown = Array.from({ length: 40 }, () => waits.failed())
  grown.forEach((ms, i) => {
    const longest = Math.min(100 * 2 ** i, 1_000)
    t.ok(ms >= longest / 2 && ms <= longest)
  })
  t.ok(new Set(grown.slice(10)).size > 20)
  waits.succeeded()
  t.ok(waits.failed() <= 100)
})

t.test('each trouble is told from the others, and whether it may be done', async (t) => {
  const answers: [number, string, string, boolean, object?][] = [
    [401, '{"error":"ERR_AUTHENTICATION_REQUIRED"}', 'token refused', false],
    [403, '{"msg":"no"}', 'token refused', false],
    [404, '{"error":"ERR_TABLE_NOT_FOUND","message":"m"}', 'no such table', false],
    [422, '{"error":"ERR_BASE_NOT_FOUND","message":"m"}', 'no such table', false],
    [404, '{"error":"ERR_RECORD_NOT_FOUND","message":"m"}', 'no such record', false],
    [404, '{"error":"ERR_FIELD_NOT_FOUND","message":"m"}', 'no such column', false],
    [404, '<h1>nginx</h1>', 'garbage', false],
    [302, '', 'garbage', false],
    [400, '{"msg":"Invalid value \\"secret name\\""}', 'value refused', false],
    [409, '{"msg":"duplicate"}', 'value refused', false],
    [422, '{"error":"ERR_INVALID_VALUE_FOR_FIELD"}', 'value refused', false],
    [431, '', 'garbage', false],
    [500, '{"msg":"sorry"}', 'failing', true],
    [502, '<h1>nginx</h1>', 'failing', true],
    [200, '<h1>Welcome</h1>', 'garbage', true],
    [200, '', 'garbage', true],
    [200, `"${'x'.repeat(20_000)}"`, 'too large', true],
  ]
  for (const [status, body, trouble, mayBeDone] of answers) {
    const url = await serve(t, (request, reply) => {
      t.equal(request.headers['xc-token'], TOKEN)
      reply.writeHead(status, { location: 'http://127.0.0.1:1/' }).end(body)
    })
    const error = await troubleOf(clientOf(t, url).ask(POST))
    t.match(error, { trouble, mayBeDone }, `${status} ${body.slice(0, 40)}`)
    t.notMatch(JSON.stringify(error) + error.message, /secret name|token-of/)
    if (trouble === 'value refused') {
      t.equal((await troubleOf(clientOf(t, url).ask(GET))).trouble, 'question refused')
    }
  }
})

t.test('each phase has its end', async (t) => {
  const unreachable = await troubleOf(clientOf(t, 'http://127.0.0.1:1').ask(POST))
  t.match(unreachable, { trouble: 'unreachable', mayBeDone: false })
  const nowhere = await troubleOf(clientOf(t, 'http://nowhere.invalid').ask(POST))
  t.match(nowhere, { trouble: 'unreachable', mayBeDone: false })

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
    const begun = performance.now()
    const error = await troubleOf(clientOf(t, url).ask(POST))
    t.match(error, { trouble: 'no answer', mayBeDone: true })
    t.ok(performance.now() - begun < 3_000)
  }
})

t.test('a line that breaks is tried once more by who only asks', async (t) => {
  let connections = 0
  const url = await serve(t, (request, reply) => {
    if (++connections === 1) request.socket.destroy()
    else reply.end('{"ok":true}')
  })
  t.strictSame(await clientOf(t, url).ask(GET), { ok: true })
  connections = 0
  t.match(await troubleOf(clientOf(t, url).ask(POST)), { trouble: 'no answer' })
  t.equal(connections, 1, 'a write is not')
})

t.test('Retry-After holds for all requests of the process', async (t) => {
  for (const retryAfter of ['1', new Date(Date.now() + 2_500).toUTCString()]) {
    const requests: number[] = []
    const url = await serve(t, (_request, reply) => {
      requests.push(performance.now())
      if (requests.length === 1) reply.writeHead(429, { 'retry-after': retryAfter }).end('{}')
      else reply.end('{}')
    })
    const client = clientOf(t, url)
    const first = await troubleOf(client.ask(GET))
    t.equal(first.trouble, 'rationed')
    t.ok((first.retryAfterMs ?? 0) >= 500)
    const impatient = await troubleOf(client.ask(POST))
    t.match(impatient, { trouble: 'rationed', mayBeDone: false })
    t.ok((impatient.retryAfterMs ?? 0) > 300, 'who waits is told how long')
    await client.ask({ ...GET, urgency: 'background' })
    t.equal(requests.length, 2)
    t.ok((requests[1] ?? 0) - (requests[0] ?? 0) >= (first.retryAfterMs ?? 0) - 20)
  }
})

t.test('429 without Retry-After makes the process wait too', async (t) => {
  const url = await serve(t, (_request, reply) => {
    reply.writeHead(429).end('{}')
  })
  const client = clientOf(t, url)
  await troubleOf(client.ask(GET))
  t.ok(client.pausedFor() > 2_000)
})

t.test('writes of one order stay in line, others pass', async (t) => {
  const inLine = createPerOrderMutex()
  const done: string[] = []
  const work = (name: string, ms: number) => async (): Promise<void> => {
    await sleep(ms)
    done.push(name)
    if (name === 'a2') throw new Error('fails')
  }
  const all = await Promise.allSettled([
    inLine('a', work('a1', 60)),
    inLine('a', work('a2', 1)),
    inLine('a', work('a3', 1)),
    inLine('b', work('b1', 10)),
  ])
  t.strictSame(done, ['b1', 'a1', 'a2', 'a3'])
  t.strictSame(
    all.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled', 'fulfilled'],
  )
})

t.test('names of columns are read, and wrong ones refused', async (t) => {
  t.match(parseColumnTitles('customerName=Customer, amountMinor = Total price'), {
    customerName: 'Customer',
    amountMinor: 'Total price',
    vesselName: 'VesselName',
  })
  for (const wrong of [
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
    t.equal(parseColumnTitles(wrong), null, wrong)
  }
})

/** A row as NocoDB would hold an order that was written from here. */
function rowOf(order: ReturnType<typeof randomOrders>[number]): Row {
  const cells = ORDER_FIELDS.map((field) => {
    const cell = encodeCell(field, order[field])
    // As NocoDB gives moments back.
    const isMoment = typeof cell === 'string' && /^\d{4}-\d\d-\d\dT.*Z$/.test(cell)
    const told = isMoment ? `${cell.slice(0, 19).replace('T', ' ')}+00:00` : cell
    return [DEFAULT_TITLES[field], field.endsWith('At') ? told : cell]
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

t.test('any order that was written comes out of its row as it was', async (t) => {
  fc.assert(
    fc.property(order(7), (written) => {
      const reading = parseRow(rowOf(written), DEFAULT_TITLES)
      if (!reading.ok) throw new Error(JSON.stringify(reading.faults))
      t.strictSame(reading.found.order, written)
      t.notOk(reading.found.isEdited)
    }),
    { numRuns: 200 },
  )
})

t.test('any edit of one cell is seen, and is the only change', async (t) => {
  const edits: Partial<Record<OrderField, [cell: unknown, value: unknown]>> = {
    status: ['Refunded', 'refunded'],
    customerName: ['Somebody else', 'Somebody else'],
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
    const row = { ...rowOf(written), [DEFAULT_TITLES[field as OrderField]]: cell }
    const reading = parseRow(row, DEFAULT_TITLES)
    t.ok(reading.ok, field)
    if (!reading.ok) continue
    const { order: now, history, isEdited } = reading.found
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

t.test('a row of anything at all never throws', async (t) => {
  const row = fc.dictionary(
    fc.constantFrom(...Object.values(DEFAULT_TITLES), 'CreatedAt', 'UpdatedAt'),
    fc.oneof(fc.jsonValue(), fc.string(), fc.constantFrom('9'.repeat(400), '\ud800', '2026-13-01')),
  )
  let read = 0
  fc.assert(
    fc.property(row, fc.option(order(3)), (cells, written) => {
      const whole = { ...(written === null ? {} : rowOf(written)), ...cells, Id: 3 }
      if (parseRow(whole, DEFAULT_TITLES).ok) read++
    }),
    { numRuns: 2_000 },
  )
  t.ok(read > 0)
})

t.test('the history in a row is bounded, its newest entry always there', async (t) => {
  const [one] = randomOrders(1)
  if (one === undefined) return
  const entry = (version: number, size: number) => ({
    at: '2026-11-20T09:30:00.000Z',
    by: 'ann',
    version,
    changes: [{ field: 'notes', from: '', to: 'é'.repeat(size) }],
    token: 'x',
  })
  const kept = (entries: number, size: number) => {
    const history = Array.from({ length: entries }, (_, i) => entry(i + 2, size))
    const cell = serializeRecord({ order: toRecordedOrder(one), by: 'ann', request: null, history })
    return { cell, history: parseRecord(cell)?.history ?? [] }
  }
  t.equal(kept(100, 10).history.length, 100)
  const many = kept(2_000, 10)
  t.ok(many.history.length < 500 && many.cell.length < 64 * 1024)
  t.equal(many.history.at(-1)?.version, 2_001)
  t.equal(kept(3, 50_000).history.length, 1)
  for (const wrong of ['', '{', '[]', 'null', '{"order":{},"by":"x","history":[]}', 7, null]) {
    t.equal(parseRecord(wrong), null)
  }
})

t.test('a table that does not fit is told column by column', async (t) => {
  const column = (title: string, type: string, choices: string[] = []) => ({
    ...{ id: title, title, type, choices, rawChoices: [] },
  })
  const found = findSchemaMismatches(
    [column('CustomerName', 'Number'), column('Status', 'SingleSelect', ['paid', 'pending'])],
    DEFAULT_TITLES,
  )
  const faults = new Map(found.map(({ title, fault }) => [title, fault]))
  t.equal(faults.size, 20)
  t.match(faults.get('CustomerName'), /is of type Number; it must be SingleLineText/)
  t.equal(faults.get('Status'), 'lacks the options processing, fulfilled, refunded, cancelled')
  t.equal(faults.get('Version'), 'is missing')
})

t.test('all variables of NocoDB are set, or none', async (t) => {
  const whole = {
    DATABASE_BASE_URL: 'https://nocodb.example.com/',
    DATABASE_BASE_ID: 'pabc',
    DATABASE_API_KEY: 'secret-key',
    DATABASE_ORDERS_TABLE_ID: 'mabc',
  }
  const problem = async (environment: NodeJS.ProcessEnv): Promise<string> => {
    try {
      await (await buildApp({ environment: { LOG_LEVEL: 'silent', ...environment } })).close()
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
    return 'it started'
  }
  for (const name of Object.keys(whole)) {
    const said = await problem({ ...whole, [name]: ' ' })
    t.match(said, `${name} must be set, since others of NocoDB are`)
    t.equal(said.split('\n').length, 2, 'nothing else is wrong')
    t.notMatch(said, 'secret-key')
  }
  const wrong = await problem({
    DATABASE_BASE_URL: 'https://user:password@nocodb.example.com',
    DATABASE_BASE_ID: 'a/b',
    DATABASE_API_KEY: 'a b',
    DATABASE_ORDERS_TABLE_ID: '../x',
    NOCODB_COLUMNS: 'x=y',
    NOCODB_SYNC_INTERVAL: '0',
    NOCODB_REQUESTS_PER_SECOND: 'many',
  })
  for (const name of [...Object.keys(whole), 'NOCODB_COLUMNS', 'NOCODB_SYNC_INTERVAL']) {
    t.match(wrong, `  ${name} must be`)
  }
  t.match(wrong, 'NOCODB_REQUESTS_PER_SECOND must be')
  t.notMatch(wrong, /password/)
})

t.test('how old orders are is told in words, while something keeps them from catching up', (t) => {
  const now = Date.parse('2026-11-20T14:07:30Z')
  const reader = { locale: 'en-GB', timeZone: 'Europe/Paris', now }
  const view = (asOf: string | null, problem: string | null, isWritable = false) =>
    buildFreshnessView({ asOf, problem, isWritable }, reader)
  t.equal(buildFreshnessView(null, reader), null, 'a book of our own is never late')
  t.equal(view('2026-11-20T14:07:00Z', null), null)
  t.equal(view(null, 'The orders are being taken in'), null, 'pages tell that by themselves')
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
  t.match(view('2026-11-20T14:00:00Z', 'NocoDB answers slowly', true), {
    text: 'NocoDB answers slowly.',
  })
  t.end()
})

t.test('between two threads a change is refused, whatever comes then', async (t) => {
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
  const path = join(temporaryFolder(t), 'no such folder', 'copy.db')
  const known = { isLoaded: true, asOf: new Date().toISOString() }
  const thread = startReplicaWorker({ path, settings }, known, log, () => undefined)
  await until(async () => failures === 1)
  await sleep(300)
  const asked = thread
    .ask({
      kind: 'apply',
      id: '1',
      command: { type: 'cancel' },
      context: { by: 'ann@example.com', ifVersions: null },
    })
    .catch((error: unknown) => error)
  await thread.close()
  t.match(await Promise.race([asked, sleep(5_000, 'no answer')]), { statusCode: 503 })
})
