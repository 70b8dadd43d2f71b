import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import type { Load } from '../support/load-generator.js'
import { rawSocket, readToEnd } from '../support/raw-http.js'
import { startService } from '../support/service.js'
import { waitUntil } from '../support/wait-for.js'

const run = promisify(execFile)
const LOAD = join(projectRoot, '.test', 'test', 'support', 'load-generator.js')
const UNLIMITED = { RATE_LIMIT_PER_MINUTE: '1000000', QR_RATE_LIMIT_PER_MINUTE: '1000000' }

/** How many files and connections a process may have open here. */
function mostOpen(): number {
  if (process.platform !== 'linux') return 1024
  const [, limit] = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
  return Number(limit ?? 1024)
}

/** Idle connections; fewer if this machine limits the number of open files. */
const IDLE = Math.min(9_000, mostOpen() - 200)

/** Sends requests over many connections; returns the results. */
async function load(url: string, connections: number, seconds: number, ...how: string[]) {
  const { stdout } = await run(process.execPath, [
    LOAD,
    url,
    String(connections),
    String(seconds),
    ...how,
  ])
  return JSON.parse(stdout) as Load
}

/** Sends requests over new connections until a promise settles; each must succeed. */
async function keepAsking(t: Test, address: string, over: Promise<unknown>): Promise<void> {
  const ended = over.then(() => true)
  while (!(await Promise.race([ended, sleep(100, false)]))) {
    const { status } = await fetch(address, { headers: { connection: 'close' } })
    if (status !== 200) t.fail(`${address} answered ${status}`)
  }
}

const QR_CODE = JSON.stringify({
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  vessel: { name: 'Ever Given' },
})

/** More requests than any machine can serve at once. */
const CONNECTIONS = 800
const SECONDS = 8

for (const [what, path, ...how] of [
  ['pages, compressed', '/calculator/fuel?quantity=500', 'br'],
  ['QR codes', '/api/qr-code/generate', 'identity', 'POST', QR_CODE],
] as const) {
  t.test(`${what}: rejects requests beyond its capacity and serves the others`, async (t) => {
    const { url, output } = await startService(t, UNLIMITED)
    const loaded = load(url + path, CONNECTIONS, SECONDS, ...how)
    await keepAsking(t, `${url}/healthz`, loaded)
    const { responses, lost } = await loaded
    const [served, refused] = [responses['200'], responses['503']]
    t.comment(JSON.stringify(responses))
    t.ok(served && served.count > 100, 'serves a part')
    t.ok(refused && refused.count > 100, 'rejects the others')
    t.equal(lost, 0, 'none without a response')
    const getRejections = async () => {
      const metrics = await (await fetch(`${url}/metrics`)).text()
      const shed = /^clearwake_shed_requests_total (\d+)$/m.exec(metrics)?.[1]
      const measured = [
        ...metrics.matchAll(/^http_request_duration_seconds_count\{.*status="503".*\} (\d+)$/gm),
      ].reduce((sum, [, count]) => sum + Number(count), 0)
      const logged = output().match(/"statusCode":503/g)?.length ?? 0
      return { shed: Number(shed), measured, logged }
    }
    let rejections = await getRejections()
    await waitUntil(async () => {
      rejections = await getRejections()
      return rejections.logged === rejections.shed
    })
    t.ok(rejections.shed > 100)
    t.equal(rejections.measured, rejections.shed, 'the duration metric has every rejection')
    t.equal(rejections.logged, rejections.shed, 'the request log has every rejection')
    t.ok(
      await waitUntil(async () => (await fetch(`${url}/calculator/fuel`)).status === 200),
      'stops rejecting when the load ends',
    )
  })
}

t.test('rejects requests under overload in the requested format, with Retry-After', async (t) => {
  const { url } = await startService(t, { ...UNLIMITED, SHED_AFTER_MS: '50' })
  const loaded = load(`${url}/qr-test?vessel.name=A&fuel.quantity=1`, 400, 8)
  let isOver = false
  void loaded.finally(() => (isOver = true))
  async function refusal(path: string, headers: Record<string, string> = {}) {
    for (;;) {
      const response = await fetch(url + path, { headers })
      const text = await response.text()
      if (response.status === 503) return { headers: response.headers, text }
      if (isOver) throw new Error(`${path} was never refused`)
    }
  }
  const [api, page, fragment] = await Promise.all([
    refusal('/api/calculators'),
    refusal('/calculator/fuel'),
    refusal('/admin/orders', { 'hx-request': 'true', 'hx-request-type': 'partial' }),
  ])
  for (const { headers } of [api, page, fragment]) {
    t.match(headers.get('retry-after'), /^\d+$/)
    t.ok(headers.get('x-request-id'))
    t.match(headers.get('content-security-policy'), /default-src 'none'/)
    t.match(headers.get('cache-control'), /no-store/)
  }
  t.match(JSON.parse(api.text), { status: 503, detail: /^The service is busy/ })
  t.equal(api.headers.get('content-type'), 'application/problem+json')
  t.match(page.text, /<h1>Temporarily unavailable<\/h1>[^]*The service is busy[^]*<\/html>/)
  t.ok(page.text.includes(page.headers.get('x-request-id') ?? '-'), 'to quote')
  t.match(fragment.text, /^<hx-partial[^]*The service is busy/)
  t.equal((await loaded).lost, 0)
})

t.test('slow senders and idle connections do not block others', async (t) => {
  const { url } = await startService(t)
  const slow = [
    'GET / HTTP/1.1\r\nhost: x\r\nx-a: ',
    'POST /api/qr-code/generate HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n{',
    '',
  ]
  const sockets: Socket[] = []
  for (let i = 0; i < IDLE; i++) {
    const socket = await rawSocket(url)
    socket.on('error', () => undefined).write(slow[i % slow.length] ?? '')
    sockets.push(socket)
  }
  const trickle = setInterval(() => {
    for (const [i, socket] of sockets.entries()) if (i % 3 < 2) socket.write('a')
  }, 1_000)
  for (let i = 0; i < 20; i++) {
    const response = await fetch(`${url}/calculator/fuel?quantity=500`)
    t.equal(response.status, 200)
    await response.text()
  }
  clearInterval(trickle)
  for (const socket of sockets) socket.destroy()
})

const MAX_GROWTH_MB = 150

const toPost = (path: string, type: string, bytes: number): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-type: ${type}\r\ncontent-length: ${bytes + 1}\r\n\r\n${'a'.repeat(bytes)}`

/** Sends each request on so many connections, without its end; returns the growth in MB. */
async function measureGrowth(t: Test, count: number, requests: readonly string[]): Promise<number> {
  const { url } = await startService(t)
  const readMemoryMB = async () => {
    const metrics = await (await fetch(`${url}/metrics`)).text()
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(metrics)?.[1]) / 1e6
  }
  const before = await readMemoryMB()
  const sockets: Socket[] = []
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  for (const request of requests) {
    for (let i = 0; i < count; i++) {
      const socket = await rawSocket(url)
      socket.on('error', () => undefined).write(request)
      sockets.push(socket)
    }
  }
  // A response on another connection shows that the requests were read.
  await (await fetch(`${url}/healthz`)).text()
  const growth = Math.round((await readMemoryMB()) - before)
  t.comment(`${growth} MB for ${sockets.length} connections`)
  return growth
}

const toHeaders = (bytes: number): string => `GET / HTTP/1.1\r\nhost: x\r\nx: ${'a'.repeat(bytes)}`

for (const [what, ...requests] of [
  ['headers', toHeaders(150_000), toHeaders(31_000)],
  ['events of Stripe', toPost('/api/payments/stripe/webhook', 'application/json', 200_000)],
  ['sign-ins', toPost('/admin/login', 'application/x-www-form-urlencoded', 120_000)],
] as const) {
  t.test(`unfinished ${what} take little memory`, async (t) => {
    t.ok((await measureGrowth(t, 1_500, requests)) < MAX_GROWTH_MB)
  })
}

t.test('six thousand connections with unfinished headers took a gigabyte', async (t) => {
  for (const bytes of [150_000, 31_000]) {
    t.ok((await measureGrowth(t, 6_000, [toHeaders(bytes)])) < 3 * MAX_GROWTH_MB)
  }
})

t.test('rejects oversized headers, bodies and pipelines', async (t) => {
  const { url } = await startService(t)
  const send = async (text: string) => {
    const socket = await rawSocket(url)
    socket.on('error', () => undefined).write(text)
    return readToEnd(socket)
  }
  t.match(await send(`GET / HTTP/1.1\r\nhost: x\r\nx-a: ${'a'.repeat(400_000)}\r\n\r\n`), / 431 /)
  const body = await fetch(`${url}/api/qr-code/generate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ vessel: { name: 'x'.repeat(3_000_000) } }),
  })
  t.equal(body.status, 413)
  const get = 'GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n'
  const responses = await send(
    get.repeat(2_000) + get.replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'),
  )
  t.equal(responses.match(/HTTP\/1\.1 200 /g)?.length, 2_001, 'a pipeline is answered in order')
})
