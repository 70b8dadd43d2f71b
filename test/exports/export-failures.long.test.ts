import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import t from 'tap'
import {
  CHUNK_BYTES,
  startExportWorker,
  type ExportRequest,
} from '../../src/exports/export-thread.js'
import { createOrderExports } from '../../src/exports/exports.js'
import { temporaryFolder } from '../support/app.js'
import { startExportApp } from '../support/export-app.js'
import { fillStore } from '../support/order-store.js'
import { typicalOrders } from '../support/orders.js'
import { waitUntil } from '../support/wait-for.js'

// Exports while clients are slow or disconnect, the database is damaged, or the service stops

const folder = temporaryFolder(t)
/** Enough that no buffer on the way holds them all; those of a connection are the largest. */
const many = join(folder, 'many.db')
const some = join(folder, 'some.db')
await fillStore(many, 'UTC', typicalOrders(25_000))
await fillStore(some, 'UTC', typicalOrders(8_000))

const all = (format: ExportRequest['format']): ExportRequest => ({
  format,
  filters: {},
  sort: '-placedAt',
})

const openExports = (path = some) =>
  createOrderExports({ source: { type: 'sqlite', path }, timeZone: 'UTC' })

const startWorker = (path: string, format: ExportRequest['format'], stallTimeoutMs?: number) =>
  startExportWorker(
    { source: { type: 'sqlite', path }, timeZone: 'UTC', ...all(format) },
    stallTimeoutMs,
  )

const neverAborted = (): AbortSignal => new AbortController().signal

/** Whether the WAL can be truncated, i.e. no connection is reading. */
function canCheckpoint(path: string): boolean {
  const db = new Database(path, { timeout: 0 })
  db.exec("UPDATE settings SET value = value + 1 WHERE name = 'next_order_number'")
  const [outcome] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
  db.close()
  return outcome?.busy === 0
}

for (const format of ['csv', 'xlsx'] as const) {
  t.test(`${format}: a slow client pauses the worker`, async (t) => {
    const path = format === 'csv' ? many : some
    const file = startWorker(path, format)
    await once(file, 'readable')
    await sleep(400)
    t.ok(file.readableLength <= 2 * CHUNK_BYTES, 'nothing piles up here')
    t.notOk(canCheckpoint(path), 'nor there: the orders are not all read yet')
    const bytes = await buffer(file)
    t.ok(bytes.length > 8 * CHUNK_BYTES, 'is complete')
    t.ok(canCheckpoint(path))
  })

  t.test(`${format}: disconnecting ends the worker and its database connection`, async (t) => {
    const orderExports = openExports()
    for (const moment of ['at once', 'in the middle', 'at the end']) {
      const leaving = new AbortController()
      const started = orderExports.start(all(format), leaving.signal)
      if (moment === 'at once') {
        leaving.abort()
        await t.rejects(started, { name: 'AbortError' })
      } else {
        const file = await started
        if (moment === 'in the middle') for (let i = 0; i < 4; i++) await nextChunk(file)
        if (moment === 'at the end') await buffer(file)
        leaving.abort()
      }
      t.ok(await waitUntil(() => orderExports.countRunning() === 0), `${moment}: none is under way`)
      t.ok(canCheckpoint(some), 'and does not block checkpoints')
    }
  })
}

async function nextChunk(file: Readable): Promise<Buffer> {
  for (;;) {
    const chunk = file.read(CHUNK_BYTES) as Buffer | null
    if (chunk !== null) return chunk
    await once(file, 'readable')
  }
}

t.test('cancels an export that is not read', async (t) => {
  const file = startWorker(many, 'csv', 200)
  await once(file, 'readable')
  const [error] = (await once(file, 'error')) as [Error]
  t.match(error.message, /stopped reading/)
  t.ok(await waitUntil(() => canCheckpoint(many)))
})

t.test('a disconnected client frees its slot and logs no error', async (t) => {
  const { app, url, log } = await startExportApp(t, some)
  const aborted = () => log.filter(({ msg, aborted }) => msg === 'request' && aborted === true)
  for (let i = 0; i < 4; i++) {
    const leaving = new AbortController()
    const startedAt = once(app.server, 'request')
    const response = fetch(`${url}?format=xlsx`, { signal: leaving.signal })
    // Some disconnect before the response, some after.
    await (i % 2 === 0 ? startedAt : response)
    leaving.abort()
    await response.catch(() => {})
    await waitUntil(() => aborted().length === i + 1)
    t.equal(aborted().length, i + 1)
    // The worker takes a while to stop.
    await sleep(300)
    await waitUntil(() => canCheckpoint(some))
  }
  t.same(
    log.filter(({ level }) => Number(level) >= 50),
    [],
  )
  t.equal((await fetch(url)).status, 200)
})

/** Occupies both export slots with unread exports; returns a function that aborts them. */
async function keepBusy(url: string, signal: AbortSignal): Promise<Response[]> {
  const headers = { 'accept-encoding': 'identity' }
  return Promise.all([1, 2].map(() => fetch(url, { signal, headers })))
}

t.test('a third export waits for a free slot', async (t) => {
  const { url } = await startExportApp(t, many)
  const leaving = new AbortController()
  const busy = await keepBusy(url, leaving.signal)
  let answered = 0
  // As many as there will be room for: how long these take is not what they wait for.
  const waiting = [1, 2].map(async () => {
    const response = await fetch(`${url}?format=csv&status=paid`)
    answered++
    return { status: response.status, text: await response.text() }
  })
  await sleep(500)
  t.equal(answered, 0)
  t.same(
    busy.map(({ bodyUsed }) => bodyUsed),
    [false, false],
  )
  leaving.abort()
  for (const { status, text } of await Promise.all(waiting)) {
    t.equal(status, 200)
    t.ok(text.endsWith('\r\n'))
  }
})

t.test(
  'at most two exports run, and a client that disconnects while waiting takes no slot',
  async (t) => {
    const orderExports = openExports()
    const first = [
      await orderExports.start(all('csv'), neverAborted()),
      await orderExports.start(all('csv'), neverAborted()),
    ]
    const leaving = new AbortController()
    const left = orderExports.start(all('csv'), leaving.signal)
    const stays = orderExports.start(all('csv'), neverAborted())
    leaving.abort()
    await t.rejects(left, { name: 'AbortError' })
    t.equal(orderExports.countRunning(), 2)
    for (const file of first) file.destroy()
    const file = await stays
    t.equal(orderExports.countRunning(), 1)
    file.destroy()
  },
)

t.test('rejects waiting exports when the service stops', async (t) => {
  const { app, url } = await startExportApp(t, many, { SHUTDOWN_TIMEOUT_MS: '2000' })
  const leaving = new AbortController()
  const busy = await keepBusy(url, leaving.signal)
  const startedAt = once(app.server, 'request')
  const third = fetch(url)
  await startedAt
  const [response] = await Promise.all([third, app.close()])
  t.equal(response.status, 503)
  t.match(await response.json(), { detail: /^The service is stopping/ })
  t.equal(busy.length, 2)
  leaving.abort()
})

t.test('responds 503 with Retry-After when no slot becomes free', async (t) => {
  const { url, log } = await startExportApp(t, many)
  const leaving = new AbortController()
  const busy = await keepBusy(url, leaving.signal)
  const third = await fetch(url)
  t.equal(third.status, 503)
  t.match(third.headers.get('retry-after'), /^\d+$/)
  t.match(third.headers.get('content-type'), /problem\+json/)
  t.equal(third.headers.get('content-disposition'), null)
  await third.body?.cancel()
  t.match(
    log.filter(({ level }) => Number(level) > 30),
    [
      {
        level: 40,
        msg: 'request rejected',
        statusCode: 503,
        detail: /^Other exports/,
        err: undefined,
      },
    ],
    'a line in the log is enough',
  )
  t.equal(busy.length, 2)
  leaving.abort()
  const isServed = async () => {
    const again = await fetch(url)
    return (await again.text()).endsWith('\r\n') && again.status === 200
  }
  t.ok(await waitUntil(isServed, { everyMs: 20 }), 'and is served when they are gone')
})

t.test('an error before the first byte is a problem response', async (t) => {
  const damaged = join(temporaryFolder(t), 'orders.db')
  await fillStore(damaged, 'UTC', typicalOrders(10))
  const db = new Database(damaged)
  db.exec('UPDATE orders SET status = 99 WHERE id = 5')
  db.close()
  const noBook = join(temporaryFolder(t), 'text.db')
  writeFileSync(noBook, 'this is not an order book, and not SQLite either'.repeat(100))
  for (const [path, format] of [
    [damaged, 'xlsx'],
    [damaged, 'csv'],
    [noBook, 'csv'],
    [join(folder, 'no such folder', 'orders.db'), 'csv'],
  ] as const) {
    const { url, log } = await startExportApp(t, path)
    const response = await fetch(`${url}?format=${format}`)
    const text = await response.text()
    t.equal(response.status, 500)
    t.match(response.headers.get('content-type'), /problem\+json/)
    t.equal(response.headers.get('content-disposition'), null)
    t.notMatch(text, /sqlite|orders\.db|code/i, 'without internals')
    const [noted, ...others] = log.filter(({ level }) => Number(level) > 30)
    t.match(noted, { level: 50, msg: 'request failed', err: {} }, 'but the log does')
    if (path === damaged) t.match(noted, { err: { stack: /unknown code: 99\n +at / } })
    t.same(others, [])
  }
})

t.test('an error after the first byte closes the connection', async (t) => {
  const path = join(temporaryFolder(t), 'orders.db')
  await fillStore(path, 'UTC', typicalOrders(6_000))
  const db = new Database(path)
  db.exec('UPDATE orders SET status = 99 WHERE id = 5999')
  db.close()
  const { url } = await startExportApp(t, path)
  for (const format of ['csv', 'xlsx']) {
    const response = await fetch(`${url}?format=${format}&sort=orderNumber`)
    t.equal(response.status, 200)
    await t.rejects(response.arrayBuffer(), `${format}: the download fails`)
  }
  const orderExports = openExports(path)
  await t.rejects(
    orderExports.start({ ...all('csv'), sort: '-orderNumber' }, neverAborted()),
    /unknown code: 99/,
  )
  t.ok(await waitUntil(() => orderExports.countRunning() === 0))
})

t.test('shutdown lets short exports finish and cancels stalled ones', async (t) => {
  const { app, url } = await startExportApp(t, many, { SHUTDOWN_TIMEOUT_MS: '3000' })
  const stalled = await fetch(url, { headers: { 'accept-encoding': 'identity' } })
  const read = await fetch(`${url}?q=00001`)
  const started = performance.now()
  const closed = app.close()
  const bytes = await read.arrayBuffer()
  t.ok(Buffer.from(bytes).toString('utf8').endsWith('\r\n'))
  await closed
  t.ok(performance.now() - started < 2_900)
  t.ok(canCheckpoint(many))
  await t.rejects(stalled.arrayBuffer())
})

t.test('shutdown rejects an export that has not started', async (t) => {
  const orderExports = openExports()
  const started = orderExports.start(all('csv'), neverAborted())
  orderExports.stop()
  await t.rejects(started, { name: 'Problem', statusCode: 503 })
})
