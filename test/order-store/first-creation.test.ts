import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
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
import { newOrder } from '../support/order-store.js'

const OPENER = join(import.meta.dirname, '../support/book-opener.js')

async function openers(t: Test, count: number): Promise<ChildProcess[]> {
  const processes = Array.from({ length: count }, () => fork(OPENER))
  t.teardown(() => processes.forEach((opener) => opener.kill('SIGKILL')))
  await Promise.all(processes.map((opener) => once(opener, 'message')))
  return processes
}

const filesBeside = (path: string): string[] => readdirSync(dirname(path)).sort()

const AT_ONCE = 4
const KILLS = 60

t.test(`a book is whole or not there through ${KILLS} kills while it is made`, async (t) => {
  let halfWay = 0
  for (let kills = 0; kills < KILLS; kills += AT_ONCE) {
    const root = temporaryFolder(t)
    const processes = await openers(t, AT_ONCE)
    const folders = processes.map((opener, place) => {
      const own = join(root, String(place))
      for (let i = 100; i < 400; i++) opener.send(getOrderStorePath(join(own, String(i))))
      return own
    })
    await Promise.all(processes.map((opener) => once(opener, 'message')))
    await sleep(Math.random() * 100)
    const ended = processes.map((opener) => once(opener, 'exit'))
    for (const opener of processes) opener.kill('SIGKILL')
    await Promise.all(ended)
    for (const folder of folders) {
      const path = getOrderStorePath(join(folder, readdirSync(folder).sort().at(-1) ?? ''))
      if (filesBeside(path).some((file) => file.includes('draft'))) halfWay++
      openDatabase(path).close()
      checkStore(path)
      t.strictSame(filesBeside(path), ['orders.db'], 'what was left is gone')
    }
  }
  t.ok(halfWay > 0, `${halfWay} were killed while they made it`)
})

for (const count of [2, 4]) {
  t.test(`${count} processes that make a book at once all get the same one`, async (t) => {
    const root = temporaryFolder(t)
    const processes = await openers(t, count)
    for (let round = 0; round < 60; round++) {
      const path = getOrderStorePath(join(root, String(round)))
      const answers = processes.map(async (opener) => {
        const answer = once(opener, 'message')
        opener.send(path)
        return (await answer)[0] as string
      })
      const outcomes = await Promise.all(answers)
      if (!outcomes.every((outcome) => outcome === 'done')) t.fail(outcomes.join(', '))
      const book = openSqliteOrderStore({ path, timeZone: 'UTC' })
      const { total } = await book.list({}, { sort: 'placedAt', offset: 0, limit: 1 })
      await book.close()
      if (total !== count) t.fail(`${total} orders of ${count} are kept`)
      const files = filesBeside(path)
      if (files.length > 1) t.fail(`${files.join(', ')} are left`)
    }
    t.doesNotThrow(() => checkStore(getOrderStorePath(join(root, '0'))))
  })
}

/** Why a book is not opened; nothing new may lie beside it then. */
function refusalOf(t: Test, path: string): string {
  const before = filesBeside(path)
  try {
    openSqliteOrderStore({ path, timeZone: 'UTC' })
  } catch (error) {
    t.type(error, DatabaseError)
    t.strictSame(filesBeside(path), before, 'nothing new lies beside it')
    return (error as Error).message
  }
  return 'it was opened'
}

async function bookWithOrders(t: Test): Promise<string> {
  const path = getOrderStorePath(temporaryFolder(t))
  const book = openSqliteOrderStore({ path, timeZone: 'UTC' })
  for (let i = 0; i < 50; i++) await book.create(newOrder({ notes: 'x'.repeat(5000) }), 'ann')
  await book.close()
  return path
}

t.test('an empty file is no new book', async (t) => {
  const path = getOrderStorePath(temporaryFolder(t))
  closeSync(openSync(path, 'w'))
  t.match(refusalOf(t, path), /orders\.db is empty, .*restore it .* or remove it/)
  t.equal(statSync(path).size, 0)
  rmSync(path)
  openDatabase(path).close()
})

t.test('a new book is not begun beside what is left of another', async (t) => {
  for (const end of ['-wal', '-journal']) {
    const path = getOrderStorePath(temporaryFolder(t))
    writeFileSync(path + end, 'orders')
    t.match(refusalOf(t, path), new RegExp(`orders\\.db is missing, though orders\\.db${end} is`))
    rmSync(path + end)
    openDatabase(path).close()
  }
})

t.test('what it refuses gets nothing beside it', async (t) => {
  const cut = await bookWithOrders(t)
  truncateSync(cut, Math.floor(statSync(cut).size / 2))
  t.match(refusalOf(t, cut), /is damaged/)

  const newer = await bookWithOrders(t)
  const db = new Database(newer)
  db.pragma('user_version = 999')
  db.close()
  t.match(refusalOf(t, newer), /newer Clearwake/)

  const overwritten = await bookWithOrders(t)
  const file = openSync(overwritten, 'r+')
  writeSync(file, Buffer.alloc(8192, 'x'), 0, 8192, 20 * 4096)
  closeSync(file)
  t.match(refusalOf(t, overwritten), /is damaged/)
})

t.test('a book that lacks a part is refused by its name', async (t) => {
  for (const [change, part] of [
    ['DROP TABLE sums', 'table sums'],
    ['DROP INDEX orders_by_kind', 'index orders_by_kind'],
    ['ALTER TABLE changes DROP COLUMN "by"', 'column changes.by'],
  ] as const) {
    const path = await bookWithOrders(t)
    const db = new Database(path)
    db.exec(change)
    db.close()
    t.match(refusalOf(t, path), `lacks a part (${part})`)
  }
})

t.test('where it may not be made, the refusal says why', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'file'), '')
  t.throws(() => openDatabase(getOrderStorePath(join(folder, 'file'))), {
    name: DatabaseError.name,
    message: /cannot be opened \(E\w+\)/,
  })
})
