import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { DatabaseError, openDatabase } from '../../src/database/open-database.js'
import type { FulfilmentAttempt } from '../../src/orders/attempt.js'
import type { OrderException } from '../../src/orders/order-filters.js'
import type { Order } from '../../src/orders/order.js'
import type { OrderStore } from '../../src/orders/store/order-store.js'
import { temporaryFolder } from '../support/app.js'
import { downgradeStore } from '../support/downgrade-store.js'
import { fillStore, newOrder } from '../support/order-store.js'
import { checkStore } from '../support/store-check.js'
import { openFileStore } from '../support/stores.js'
import { waitUntil } from '../support/wait-for.js'

const WRITER = join(import.meta.dirname, '../support/store-writer.js')

/** Starts writers, kills them, and returns the acknowledged writes. */
async function killWriters(
  path: string,
  writers: number,
): Promise<[id: string, version: number][]> {
  const processes = Array.from({ length: writers }, () =>
    spawn(process.execPath, [WRITER, path], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const outputs = processes.map(({ stdout }) => text(stdout))
  await Promise.all(
    processes.map(async (writer) => {
      const ended = once(writer, 'exit').then(() => 'exited')
      assert.notEqual(await Promise.race([once(writer.stdout, 'data'), ended]), 'exited')
    }),
  )
  await sleep(Math.random() * 40)
  for (const writer of processes) writer.kill('SIGKILL')
  const lines = (await Promise.all(outputs)).join('').split('\n')
  return lines
    .map((line) => line.split(' '))
    .filter((parts) => parts.length === 2)
    .map(([id = '', version]) => [id, Number(version)])
}

const KILLS = 24
const CONCURRENCY = 4

t.test(`keeps every acknowledged write completely through ${KILLS} kills`, async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  openDatabase(path).close()
  let acknowledged = 0
  for (let kills = 0; kills < KILLS; kills += CONCURRENCY) {
    const writes = await killWriters(path, CONCURRENCY)
    acknowledged += writes.length
    const store = await openFileStore({ path, timeZone: 'UTC' })
    for (const [id, version] of writes) {
      const found = (await store.get(id))?.version ?? 0
      if (found < version) t.fail(`version ${version} of order ${id} is lost`)
      const history = (await store.getHistory(id)) ?? []
      if (history.length !== found) t.fail(`order ${id} has a gap in its history`)
    }
    await store.close()
    if (kills % 40 === 0) checkStore(path)
  }
  checkStore(path)
  t.ok(acknowledged > KILLS, `${acknowledged} writes were acknowledged`)
})

t.test('only the owner can read the database and its journal', async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  const store = await openFileStore({ path, timeZone: 'UTC' })
  await store.create(newOrder(), 'ann@example.com')
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    t.equal(statSync(file).mode & 0o777, 0o600, file)
  }
  await store.close()
})

/** Returns the error of opening a file, which must stay unchanged. */
async function getOpenError(t: Test, path: string): Promise<string> {
  const before = readFileSync(path)
  try {
    await openFileStore({ path, timeZone: 'UTC' })
  } catch (error) {
    t.type(error, DatabaseError)
    t.ok(before.equals(readFileSync(path)), 'the file is unchanged')
    return (error as Error).message
  }
  return 'opened'
}

t.test('migrates a database of schema version 1 and keeps its orders', async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  const before = await openFileStore({ path, timeZone: 'UTC' })
  await before.create(newOrder({ orderSourceId: 'off_1' }), 'ann')
  await before.close()
  downgradeStore(path, 1)

  const store = await openFileStore({ path, timeZone: 'UTC' })
  t.teardown(() => store.close())
  t.match(await store.findByOrderSourceId('off_1'), [{ orderSourceId: 'off_1' }])
  t.match(await store.findOtherProviderOrders(['off_2'], 4), [{ orderSourceId: 'off_1' }])
  t.same(await store.findOtherProviderOrders(['off_1'], 4), [])
  checkStore(path)
})

t.test('migrates fulfilment attempts to exceptions', async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  const before = await openFileStore({ path, timeZone: 'UTC' })
  const sent = {
    state: 'sent',
    by: 'ann',
    sentAt: new Date().toISOString(),
    portfolioId: 1,
    portfolioName: 'Mix',
    tons: 1.6036,
    amountMinor: 3833,
    currency: 'USD',
  } as const
  const id = 'off_1'
  const apply = async (order: Order, attempt: Omit<FulfilmentAttempt, 'reference'>) => {
    const command = { type: 'attempt', attempt: { reference: order.id, ...attempt } } as const
    const { outcome } = await before.apply(order.id, command, { by: 'ann', ifVersions: null })
    t.equal(outcome, 'changed')
  }
  const addOrder = async (...attempts: Omit<FulfilmentAttempt, 'reference'>[]) => {
    const result = await before.create(newOrder({ status: 'paid' }), 'ann')
    if (!('order' in result)) throw new Error(result.outcome)
    for (const attempt of attempts) await apply(result.order, attempt)
    return result.order.id
  }
  const notPlaced = await addOrder()
  const refused = await addOrder(sent, { ...sent, state: 'refused', reason: 'no credit' })
  const unknown = await addOrder(sent, { ...sent, state: 'unanswered' })
  await addOrder(sent, { ...sent, state: 'placed', orderSourceId: id })
  const charged = { ...sent, state: 'placed', orderSourceId: id, amountMinor: 3834 } as const
  const dearer = await addOrder(sent, charged)
  const edited = await addOrder(sent, { ...sent, state: 'placed', orderSourceId: id })
  await before.apply(
    edited,
    { type: 'edit', changes: { co2eKg: 1700 } },
    { by: 'ann', ifVersions: null },
  )

  const list = async (store: OrderStore, exception: OrderException): Promise<string[]> => {
    const slice = { sort: 'orderNumber', offset: 0, limit: 10 } as const
    return (await store.list({ exception: [exception] }, slice)).items.map((order) => order.id)
  }
  const check = async (store: OrderStore) => {
    t.same(await list(store, 'not_placed'), [notPlaced, refused])
    t.same(await list(store, 'placement_unknown'), [unknown])
    t.same(await list(store, 'differs'), [dearer, edited])
    t.same(await store.readStatistics((statistics) => statistics.countExceptions()), {
      not_placed: 2,
      placement_unknown: 1,
      differs: 2,
      not_refunded: 0,
      no_evidence: 0,
    })
  }
  await check(before)
  await before.close()
  downgradeStore(path, 3)

  const store = await openFileStore({ path, timeZone: 'UTC' })
  t.teardown(() => store.close())
  await check(store)
})

t.test('rejects a foreign, damaged or newer file and leaves it unchanged', async (t) => {
  const garbage = getDatabasePath(temporaryFolder(t))
  writeFileSync(garbage, 'this is no database, and never was one; '.repeat(50))
  t.match(await getOpenError(t, garbage), /is damaged/)

  const other = getDatabasePath(temporaryFolder(t))
  new Database(other).exec('CREATE TABLE recipes (name)').close()
  t.match(await getOpenError(t, other), /is not a Clearwake order database/)

  const newer = getDatabasePath(temporaryFolder(t))
  await fillStore(newer, 'UTC', [])
  const db = new Database(newer)
  db.pragma('user_version = 999')
  db.close()
  t.match(await getOpenError(t, newer), /newer version of Clearwake \(schema version 999/)

  const cut = getDatabasePath(temporaryFolder(t))
  const store = await openFileStore({ path: cut, timeZone: 'UTC' })
  for (let i = 0; i < 50; i++) await store.create(newOrder({ notes: 'x'.repeat(5000) }), 'ann')
  await store.close()
  truncateSync(cut, Math.floor(statSync(cut).size / 2))
  t.match(await getOpenError(t, cut), /is damaged/)

  const protectedFile = getDatabasePath(temporaryFolder(t))
  openDatabase(protectedFile).close()
  chmodSync(protectedFile, 0o000)
  if (process.getuid?.() !== 0) t.match(await getOpenError(t, protectedFile), /^Cannot open/)
})

t.test('checks a large database in the background and then rejects all requests', async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  const store = await openFileStore({ path, timeZone: 'UTC' })
  await store.create(newOrder(), 'ann')
  await store.close()
  const db = new Database(path)
  db.exec('CREATE TABLE filler (content); INSERT INTO filler VALUES (zeroblob(70000000))')
  db.exec('CREATE TABLE damaged (content); INSERT INTO damaged VALUES (zeroblob(100000))')
  db.close()

  const intact = await openFileStore({ path, timeZone: 'UTC' })
  t.match(await intact.create(newOrder(), 'ann'), { outcome: 'created' })
  await sleep(1_000)
  t.equal((await intact.get('2'))?.id, '2')
  await intact.close()

  const file = openSync(path, 'r+')
  const pageBytes = 4096
  writeSync(file, Buffer.alloc(2 * pageBytes, 7), 0, 2 * pageBytes, statSync(path).size - 40_960)
  closeSync(file)
  const damaged = await openFileStore({ path, timeZone: 'UTC' })
  const isChecked = () => {
    try {
      damaged.check()
      return false
    } catch {
      return true
    }
  }
  t.ok(await waitUntil(isChecked), 'finds the damage')
  const damage = { statusCode: 503, message: /is damaged: .* restore it from a backup/ }
  await t.rejects(damaged.create(newOrder(), 'ann'), damage)
  t.throws(() => damaged.check(), damage)
  await t.rejects(damaged.get('1'), damage)
  await damaged.close()
})

t.test('opens while another process holds the write lock', async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  openDatabase(path).close()
  const other = new Database(path)
  other.exec('BEGIN IMMEDIATE')
  const store = await openFileStore({ path, timeZone: 'UTC' })
  other.exec('ROLLBACK')
  other.close()
  t.match(await store.create(newOrder(), 'ann'), { outcome: 'created' })
  await store.close()
})

t.test(
  'recomputes aggregates for another time zone and rejects processes with the old one',
  async (t) => {
    const path = getDatabasePath(temporaryFolder(t))
    const tokyo = await openFileStore({ path, timeZone: 'Asia/Tokyo' })
    await tokyo.create(newOrder({ placedAt: '2026-03-01T20:00:00Z' }), 'ann')
    const first = (store: OrderStore) =>
      store.readStatistics(async (statistics) => (await statistics.getDayRange())?.from)
    t.equal(await first(tokyo), Date.parse('2026-03-02') / 86_400_000)
    const lisbon = await openFileStore({ path, timeZone: 'Europe/Lisbon' })
    t.equal(await first(lisbon), Date.parse('2026-03-01') / 86_400_000)
    const conflict = {
      statusCode: 503,
      message: /TIME_ZONE Europe\/Lisbon, this one with Asia\/Tokyo/,
    }
    await t.rejects(tokyo.create(newOrder(), 'ann'), conflict)
    await t.rejects(first(tokyo), conflict, 'for reads as well')
    await t.rejects(tokyo.list({}, { sort: 'placedAt', offset: 0, limit: 9 }), conflict)
    await t.rejects(tokyo.list({ q: 'ann' }, { sort: 'placedAt', offset: 0, limit: 9 }), conflict)
    await lisbon.create(newOrder(), 'ann')
    await tokyo.close()
    await lisbon.close()
    checkStore(path)
  },
)

t.test('retries a locked write without blocking, and reports a lasting lock', async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  const store = await openFileStore({ path, timeZone: 'UTC' })
  const other = new Database(path)
  other.exec('BEGIN IMMEDIATE')
  let ticks = 0
  const ticking = setInterval(() => ticks++, 10)
  const waiting = store.create(newOrder(), 'ann')
  t.ok(await waitUntil(() => ticks > 5), 'the event loop is not blocked')
  clearInterval(ticking)
  other.exec('COMMIT')
  t.match(await waiting, { outcome: 'created' }, 'is written when the lock is released')
  other.exec('BEGIN IMMEDIATE')
  await t.rejects(store.create(newOrder(), 'ann'), { name: 'StoreUnwritableError', isBusy: true })
  other.close()
  await store.close()
})
