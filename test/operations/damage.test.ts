import { execFileSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { temporaryFolder } from '../support/app.js'
import { distPath } from '../support/dist-path.js'
import { fillStore, newOrder } from '../support/order-store.js'
import { typicalOrders } from '../support/orders.js'
import { startService, type Service } from '../support/service.js'
import { signIn } from '../support/sign-in.js'

const STORED = 1_000
const PAGE_BYTES = 4096

/** Overwrites a part of each page, starting with a page. */
function overwritePages(path: string, firstPage: number): void {
  const file = openSync(path, 'r+')
  for (let at = firstPage * PAGE_BYTES; at < statSync(path).size; at += PAGE_BYTES) {
    writeSync(file, Buffer.alloc(2000, 'Z'), 0, 2000, at + 50)
  }
  closeSync(file)
}

async function createClient({ url }: Service) {
  const authorization = `Bearer ${await signIn(url)}`
  return async (method: string, path: string, body?: unknown) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = (response.headers.get('content-type') ?? '').includes('json')
    return { status: response.status, body: isJson ? JSON.parse(text) : text }
  }
}

/** Starts a service with orders, some of which are only in the journal. */
async function prepare(t: Test) {
  const dataDir = temporaryFolder(t)
  await fillStore(getDatabasePath(dataDir), 'UTC', typicalOrders(STORED))
  const service = await startService(t, { DATA_DIR: dataDir })
  const call = await createClient(service)
  for (let i = 0; i < 3; i++) await call('POST', '/api/admin/orders', newOrder())
  return { service, call, path: getDatabasePath(dataDir) }
}

// Sessions are in the same database.
const DAMAGED =
  /^The (?:order )?database is damaged: stop the service and restore it from a backup\.$/
const REPLACED = /^The order database was moved, removed or replaced while in use: put it back/

const DAMAGES: [what: string, damage: (path: string) => void, detail: RegExp][] = [
  ['overwritten in the middle', (path) => overwritePages(path, 2), DAMAGED],
  ['overwritten at the start', (path) => overwritePages(path, 0), DAMAGED],
  ['truncated', (path) => truncateSync(path, 2 * PAGE_BYTES), DAMAGED],
  ['deprived of its journal', (path) => truncateSync(`${path}-wal`, 0), DAMAGED],
  [
    'replaced by a copy',
    (path) => {
      copyFileSync(path, `${path}.new`)
      renameSync(`${path}.new`, path)
    },
    REPLACED,
  ],
]

for (const [what, damage, detail] of DAMAGES) {
  t.test(`a database ${what} while in use is reported, and accepts no changes`, async (t) => {
    const { service, call, path } = await prepare(t)
    damage(path)
    for (const [method, address, body] of [
      ['GET', '/api/admin/orders?sort=co2eKg&page=7'],
      ['GET', '/api/admin/orders?q=ann'],
      ['GET', '/api/admin/orders/500'],
      ['POST', '/api/admin/orders', newOrder()],
      ['PATCH', '/api/admin/orders/1', { notes: 'x' }],
      ['POST', '/api/admin/stats', { range: 'all' }],
      ['GET', '/api/admin/orders/export?format=xlsx'],
    ] as const) {
      t.match(await call(method, address, body), { status: 503, body: { detail } }, address)
    }
    t.equal((await call('GET', '/admin/orders')).status, 503)
    t.match(await call('GET', '/readyz'), { status: 503, body: { checks: { orders: { detail } } } })
    t.equal((await call('GET', '/healthz')).status, 200)
    t.equal((await call('GET', '/calculator/fuel')).status, 200, 'public pages still work')
    service.process.kill('SIGTERM')
    t.equal(await service.ended, 0)
  })
}

t.test('works after a restore', async (t) => {
  const { service, call, path } = await prepare(t)
  const copy = join(temporaryFolder(t), 'copy.db')
  const command = distPath('commands', 'orders-backup.js')
  const env = { PATH: process.env.PATH, DATA_DIR: service.dataDir }
  execFileSync(process.execPath, [command, copy], { cwd: service.dataDir, env })
  overwritePages(path, 2)
  t.equal((await call('GET', '/api/admin/orders?sort=co2eKg&page=7')).status, 503)
  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)

  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
  copyFileSync(copy, path)
  const again = await createClient(await startService(t, { DATA_DIR: service.dataDir }))
  t.match(await again('GET', '/api/admin/orders'), { body: { totalItems: STORED + 3 } })
  t.equal((await again('POST', '/api/admin/orders', newOrder())).status, 201)
  t.equal((await again('GET', '/readyz')).status, 200)
})

t.test('reports damage that an export detects', async (t) => {
  const { call, path } = await prepare(t)
  const file = openSync(path, 'r+')
  const middle = PAGE_BYTES * Math.floor(statSync(path).size / PAGE_BYTES / 2)
  writeSync(file, Buffer.alloc(8 * PAGE_BYTES, 'Z'), 0, 8 * PAGE_BYTES, middle)
  closeSync(file)
  const exported = await call('GET', '/api/admin/orders/export').catch(() => 'interrupted')
  if (exported !== 'interrupted') t.match(exported, { status: 503, body: { detail: DAMAGED } })
  t.match(await call('POST', '/api/admin/orders', newOrder()), {
    status: 503,
    body: { detail: DAMAGED },
  })
})

t.test('resumes when a moved database is back', async (t) => {
  const { service, call, path } = await prepare(t)
  const create = () => call('POST', '/api/admin/orders', newOrder())
  renameSync(path, `${path}.moved`)
  t.match(await create(), { status: 503, body: { detail: REPLACED } })
  t.equal((await call('GET', '/readyz')).status, 503)
  renameSync(`${path}.moved`, path)
  t.equal((await create()).status, 201)
  t.equal((await call('GET', '/readyz')).status, 200)

  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)
})

t.test('reports a database that is moved while an export waits', async (t) => {
  const dataDir = temporaryFolder(t)
  const path = getDatabasePath(dataDir)
  // Enough that two exports which nobody reads stay unfinished.
  await fillStore(path, 'UTC', typicalOrders(25_000))
  const { url } = await startService(t, { DATA_DIR: dataDir })
  const headers = { authorization: `Bearer ${await signIn(url)}`, 'accept-encoding': 'identity' }
  const startExport = (signal?: AbortSignal) =>
    fetch(`${url}/api/admin/orders/export`, { headers, ...(signal && { signal }) })
  const leaving = new AbortController()
  await Promise.all([startExport(leaving.signal), startExport(leaving.signal)])
  const waiting = startExport()
  await sleep(500)
  renameSync(path, `${path}.moved`)
  leaving.abort()
  const response = await waiting
  t.equal(response.status, 503)
  t.match(await response.json(), { detail: REPLACED })
})
