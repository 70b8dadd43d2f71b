import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { DatabaseError, openDatabase } from '../../src/database/open-database.js'
import { temporaryFolder } from '../support/app.js'
import { checkStore } from '../support/store-check.js'
import { openFileStore } from '../support/stores.js'

const OPENER = join(import.meta.dirname, '../support/store-opener.js')

async function startOpeners(t: Test, count: number): Promise<ChildProcess[]> {
  const processes = Array.from({ length: count }, () => fork(OPENER))
  t.teardown(() => processes.forEach((opener) => opener.kill('SIGKILL')))
  await Promise.all(processes.map((opener) => once(opener, 'message')))
  return processes
}

const CONCURRENCY = 4
const KILLS = 12

t.test(`a database is complete or missing after ${KILLS} kills during creation`, async (t) => {
  for (let kills = 0; kills < KILLS; kills += CONCURRENCY) {
    const root = temporaryFolder(t)
    const processes = await startOpeners(t, CONCURRENCY)
    const folders = processes.map((opener, index) => {
      const folder = join(root, String(index))
      for (let i = 100; i < 400; i++) opener.send(getDatabasePath(join(folder, String(i))))
      return folder
    })
    await Promise.all(processes.map((opener) => once(opener, 'message')))
    await sleep(Math.random() * 100)
    const exits = processes.map((opener) => once(opener, 'exit'))
    for (const opener of processes) opener.kill('SIGKILL')
    await Promise.all(exits)
    for (const folder of folders) {
      const path = getDatabasePath(join(folder, readdirSync(folder).sort().at(-1) ?? ''))
      openDatabase(path).close()
      t.doesNotThrow(() => checkStore(path))
    }
  }
})

for (const count of [2, 4]) {
  t.test(`${count} processes that create a database at once share one`, async (t) => {
    const root = temporaryFolder(t)
    const processes = await startOpeners(t, count)
    for (let round = 0; round < 15; round++) {
      const path = getDatabasePath(join(root, String(round)))
      const responses = processes.map(async (opener) => {
        const response = once(opener, 'message')
        opener.send(path)
        return (await response)[0] as string
      })
      const outcomes = await Promise.all(responses)
      if (!outcomes.every((outcome) => outcome === 'done')) t.fail(outcomes.join(', '))
      const store = await openFileStore({ path, timeZone: 'UTC' })
      const { total } = await store.list({}, { sort: 'placedAt', offset: 0, limit: 1 })
      await store.close()
      if (total !== count) t.fail(`${total} of ${count} orders exist`)
      const files = readdirSync(dirname(path))
      if (files.length > 1) t.fail(`files left behind: ${files.join(', ')}`)
    }
    t.doesNotThrow(() => checkStore(getDatabasePath(join(root, '0'))))
  })
}

function getOpenError(t: Test, path: string): string {
  try {
    openDatabase(path).close()
  } catch (error) {
    t.type(error, DatabaseError)
    return (error as Error).message
  }
  return 'opened'
}

t.test('rejects an empty file instead of creating a database in it', async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  closeSync(openSync(path, 'w'))
  t.match(getOpenError(t, path), /orders\.db is empty: restore it .* or remove it/)
  t.equal(statSync(path).size, 0)
  rmSync(path)
  t.equal(getOpenError(t, path), 'opened')
})

t.test('rejects creation next to the journal of a lost database', async (t) => {
  for (const suffix of ['-wal', '-journal']) {
    const path = getDatabasePath(temporaryFolder(t))
    writeFileSync(path + suffix, 'orders')
    t.match(
      getOpenError(t, path),
      new RegExp(`orders\\.db is missing, .*orders\\.db${suffix} exists`),
    )
    rmSync(path + suffix)
    t.equal(getOpenError(t, path), 'opened')
  }
})

t.test('reports why a database cannot be created', async (t) => {
  const folder = temporaryFolder(t)
  writeFileSync(join(folder, 'file'), '')
  t.match(
    getOpenError(t, getDatabasePath(join(folder, 'file'))),
    /^Cannot open .*orders\.db: .*E\w+/,
  )
})
