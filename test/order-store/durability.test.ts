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
import { DatabaseError, openDatabase } from '../../src/database/open-database.js'
import {
  getOrderStorePath,
  openSqliteOrderStore,
} from '../../src/order-store/sqlite/sqlite-order-store.js'
import { temporaryFolder } from '../support/app.js'
import { checkStore } from '../support/store-check.js'
import { fillStore, newOrder } from '../support/order-store.js'
import { comesTrue } from '../support/wait-for.js'

const WRITER = join(import.meta.dirname, '../support/book-writer.js')

/** Lets writers write for a moment, kills them all, and tells what had been acknowledged. */
async function killedWriters(
  path: string,
  writers: number,
): Promise<[id: string, version: number][]> {
  const processes = Array.from({ length: writers }, () =>
    spawn(process.execPath, [WRITER, path], { stdio: ['ignore', 'pipe', 'inherit'] }),
  )
  const outputs = processes.map(({ stdout }) => text(stdout))
  await Promise.all(
    processes.map(async (writer) => {
      const ended = once(writer, 'exit').then(() => 'ended by itself')
      assert.notEqual(await Promise.race([once(writer.stdout, 'data'), ended]), 'ended by itself')
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

const KILLS = 200
const AT_ONCE = 4

t.test(`no acknowledged write is lost and no half one kept through ${KILLS} kills`, async (t) => {
  const path = getOrderStorePath(temporaryFolder(t))
  openDatabase(path).close()
  let acknowledged = 0
  for (let kills = 0; kills < KILLS; kills += AT_ONCE) {
    const writes = await killedWriters(path, AT_ONCE)
    acknowledged += writes.length
    const book = openSqliteOrderStore({ path, timeZone: 'UTC' })
    for (const [id, version] of writes) {
      const found = book.get(id)?.version ?? 0
      if (found < version) t.fail(`version ${version} of order ${id} is lost`)
      const history = book.getHistory(id) ?? []
      if (history.length !== found) t.fail(`order ${id} has a gap in its history`)
    }
    await book.close()
    if (kills % 40 === 0) checkStore(path)
  }
  checkStore(path)
  t.ok(acknowledged > KILLS, `${acknowledged} writes were acknowledged`)
})

t.test('the book and what lies beside it are for their owner alone', async (t) => {
  const path = getOrderStorePath(temporaryFolder(t))
  const book = openSqliteOrderStore({ path, timeZone: 'UTC' })
  await book.create(newOrder(), 'ann@example.com')
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    t.equal(statSync(file).mode & 0o777, 0o600, file)
  }
  await book.close()
})

/** What opening a file that does not do says; the file must be left as it is. */
function refusalOf(t: Test, path: string): string {
  const before = readFileSync(path)
  try {
    openSqliteOrderStore({ path, timeZone: 'UTC' })
  } catch (error) {
    t.type(error, DatabaseError)
    t.ok(before.equals(readFileSync(path)), 'it stays untouched')
    return (error as Error).message
  }
  return 'it was opened'
}

t.test('a book of the first layout is brought up to date, with what is in it', async (t) => {
  const path = getOrderStorePath(temporaryFolder(t))
  const before = openSqliteOrderStore({ path, timeZone: 'UTC' })
  await before.create(newOrder({ orderSourceId: 'off_1' }), 'ann')
  await before.close()
  const db = new Database(path)
  db.exec('DROP INDEX orders_by_source_id; DROP INDEX changes_placed')
  db.pragma('user_version = 1')
  db.close()

  const book = openSqliteOrderStore({ path, timeZone: 'UTC' })
  t.teardown(() => book.close())
  t.match(book.findByOrderSourceId('off_1'), [{ orderSourceId: 'off_1' }])
  t.match(book.findOtherProviderOrders(['off_2'], 4), [{ orderSourceId: 'off_1' }])
  t.same(book.findOtherProviderOrders(['off_1'], 4), [])
  checkStore(path)
})

t.test(
  'a file that is no order book, a damaged or a newer one is refused, and stays untouched',
  async (t) => {
    const garbage = getOrderStorePath(temporaryFolder(t))
    writeFileSync(garbage, 'this is no database, and never was one; '.repeat(50))
    t.match(refusalOf(t, garbage), /is damaged/)

    const other = getOrderStorePath(temporaryFolder(t))
    new Database(other).exec('CREATE TABLE recipes (name)').close()
    t.match(refusalOf(t, other), /is not an order book/)

    const newer = getOrderStorePath(temporaryFolder(t))
    fillStore(newer, 'UTC', [])
    const db = new Database(newer)
    db.pragma('user_version = 999')
    db.close()
    t.match(refusalOf(t, newer), /newer Clearwake \(layout 999/)

    const cut = getOrderStorePath(temporaryFolder(t))
    const book = openSqliteOrderStore({ path: cut, timeZone: 'UTC' })
    for (let i = 0; i < 50; i++) await book.create(newOrder({ notes: 'x'.repeat(5000) }), 'ann')
    await book.close()
    truncateSync(cut, Math.floor(statSync(cut).size / 2))
    t.match(refusalOf(t, cut), /is damaged/)

    const unreadable = getOrderStorePath(temporaryFolder(t))
    openDatabase(unreadable).close()
    chmodSync(unreadable, 0o000)
    if (process.getuid?.() !== 0) t.match(refusalOf(t, unreadable), /cannot be opened/)
  },
)

t.test('a large book opens at once, and is looked through before it is written to', async (t) => {
  const path = getOrderStorePath(temporaryFolder(t))
  const small = openSqliteOrderStore({ path, timeZone: 'UTC' })
  for (let i = 0; i < 50; i++) await small.create(newOrder({ notes: 'x'.repeat(5000) }), 'ann')
  await small.close()

  const whole = openSqliteOrderStore({ path, timeZone: 'UTC' })
  t.equal(whole.get('50')?.id, '50')
  t.match(await whole.create(newOrder(), 'ann'), { outcome: 'created' })
  whole.check()
  await whole.close()

  const file = openSync(path, 'r+')
  const page = 4096
  const last = Math.floor(statSync(path).size / page / 2)
  writeSync(file, Buffer.alloc(page, 7), 0, page, last * page)
  closeSync(file)
  const before = readFileSync(path)
  const damaged = openSqliteOrderStore({ path, timeZone: 'UTC' })
  await t.rejects(damaged.create(newOrder(), 'ann'), { statusCode: 503, message: /is damaged/ })
  t.throws(() => damaged.check(), /restore the book/)
  t.throws(() => damaged.get('1'), /is damaged/, 'nothing is read any more')
  await damaged.close()
  t.ok(before.equals(readFileSync(path)), 'it stays untouched')
})

t.test('a book opens at once while somebody writes to it for long', async (t) => {
  const path = getOrderStorePath(temporaryFolder(t))
  openDatabase(path).close()
  const other = new Database(path)
  other.exec('BEGIN IMMEDIATE')
  const began = performance.now()
  const book = openSqliteOrderStore({ path, timeZone: 'UTC' })
  t.ok(performance.now() - began < 4_000, 'a lock is waited for longer')
  other.exec('ROLLBACK')
  other.close()
  t.match(await book.create(newOrder(), 'ann'), { outcome: 'created' })
  await book.close()
})

t.test('sums follow the time zone, and a process of another zone writes none', async (t) => {
  const path = getOrderStorePath(temporaryFolder(t))
  const tokyo = openSqliteOrderStore({ path, timeZone: 'Asia/Tokyo' })
  await tokyo.create(newOrder({ placedAt: '2026-03-01T20:00:00Z' }), 'ann')
  const first = (book: ReturnType<typeof openSqliteOrderStore>) =>
    book.readStatistics((statistics) => statistics.getDayRange()?.from)
  t.equal(first(tokyo), Date.parse('2026-03-02') / 86_400_000)
  const lisbon = openSqliteOrderStore({ path, timeZone: 'Europe/Lisbon' })
  t.equal(first(lisbon), Date.parse('2026-03-01') / 86_400_000)
  const ofOtherDays = { statusCode: 503, message: /days of Europe\/Lisbon now, .* Asia\/Tokyo/ }
  await t.rejects(tokyo.create(newOrder(), 'ann'), ofOtherDays)
  t.throws(() => first(tokyo), ofOtherDays, 'nor does it read them')
  await t.rejects(tokyo.list({}, { sort: 'placedAt', offset: 0, limit: 9 }), ofOtherDays)
  await t.rejects(tokyo.list({ q: 'ann' }, { sort: 'placedAt', offset: 0, limit: 9 }), ofOtherDays)
  await lisbon.create(newOrder(), 'ann')
  await tokyo.close()
  await lisbon.close()
  checkStore(path)
})

t.test(
  'who cannot write because others do gets told so in time, and the process goes on',
  async (t) => {
    const path = getOrderStorePath(temporaryFolder(t))
    const book = openSqliteOrderStore({ path, timeZone: 'UTC' })
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    let ticks = 0
    const ticking = setInterval(() => ticks++, 10)
    const waiting = book.create(newOrder(), 'ann')
    t.ok(await comesTrue(() => ticks > 5), 'nothing stands still in the meantime')
    clearInterval(ticking)
    other.exec('COMMIT')
    t.match(await waiting, { outcome: 'created' }, 'it is written as soon as that is possible')
    other.exec('BEGIN IMMEDIATE')
    await t.rejects(book.create(newOrder(), 'ann'), { name: 'StoreUnwritableError' })
    other.close()
    await book.close()
  },
)
