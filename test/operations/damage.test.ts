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
import t, { type Test } from 'tap'
import { getOrderStorePath } from '../../src/order-store/sqlite/sqlite-order-store.js'
import { built } from '../support/built.js'
import { logIn } from '../support/sign-in.js'
import { temporaryFolder } from '../support/app.js'
import { fillStore, newOrder } from '../support/order-store.js'
import { usualOrders } from '../support/orders.js'
import { startService, type Service } from '../support/service.js'

const STORED = 1_000
const PAGE_BYTES = 4096

/** Nonsense in the place of a part of each page, from a page on. */
function scribble(path: string, firstPage: number): void {
  const file = openSync(path, 'r+')
  for (let at = firstPage * PAGE_BYTES; at < statSync(path).size; at += PAGE_BYTES) {
    writeSync(file, Buffer.alloc(2000, 'Z'), 0, 2000, at + 50)
  }
  closeSync(file)
}

async function caller({ url }: Service) {
  const authorization = `Bearer ${await logIn(url)}`
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

/** A service with orders, of which some are in the journal only. */
async function prepare(t: Test) {
  const dataDir = temporaryFolder(t)
  fillStore(getOrderStorePath(dataDir), 'UTC', usualOrders(STORED))
  const service = await startService(t, { DATA_DIR: dataDir })
  const call = await caller(service)
  for (let i = 0; i < 3; i++) await call('POST', '/api/admin/orders', newOrder())
  return { service, call, path: getOrderStorePath(dataDir) }
}

const DAMAGED =
  /^The order book is damaged: stop the service and restore the book from a back-up\.$/
const OTHER_FILE = /^A file of the order book has been removed, replaced or cut off .*: put it back/

const DAMAGES: [what: string, damage: (path: string) => void, detail: RegExp][] = [
  ['overwritten in the middle', (path) => scribble(path, 2), DAMAGED],
  ['overwritten at its beginning', (path) => scribble(path, 0), DAMAGED],
  ['cut off', (path) => truncateSync(path, 2 * PAGE_BYTES), OTHER_FILE],
  ['robbed of what its journal held', (path) => truncateSync(`${path}-wal`, 0), DAMAGED],
  [
    'replaced by another',
    (path) => {
      copyFileSync(path, `${path}.new`)
      renameSync(`${path}.new`, path)
    },
    OTHER_FILE,
  ],
]

for (const [what, damage, detail] of DAMAGES) {
  t.test(`a book that is ${what} is told, and takes nothing that would be lost`, async (t) => {
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
    t.equal((await call('GET', '/calculator/fuel')).status, 200, 'guests notice nothing')
    service.process.kill('SIGTERM')
    t.equal(await service.ended, 0)
  })
}

t.test('after a restore it works as before', async (t) => {
  const { service, call, path } = await prepare(t)
  const copy = join(temporaryFolder(t), 'copy.db')
  const command = built('commands', 'orders-backup.js')
  const env = { PATH: process.env.PATH, DATA_DIR: service.dataDir }
  execFileSync(process.execPath, [command, copy], { cwd: service.dataDir, env })
  scribble(path, 2)
  t.equal((await call('GET', '/api/admin/orders?sort=co2eKg&page=7')).status, 503)
  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)

  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
  copyFileSync(copy, path)
  const again = await caller(await startService(t, { DATA_DIR: service.dataDir }))
  t.match(await again('GET', '/api/admin/orders'), { body: { totalItems: STORED + 3 } })
  t.equal((await again('POST', '/api/admin/orders', newOrder())).status, 201)
  t.equal((await again('GET', '/readyz')).status, 200)
})

t.test('damage that an export meets on its way is told from then on', async (t) => {
  const { call, path } = await prepare(t)
  const file = openSync(path, 'r+')
  const middle = PAGE_BYTES * Math.floor(statSync(path).size / PAGE_BYTES / 2)
  writeSync(file, Buffer.alloc(8 * PAGE_BYTES, 'Z'), 0, 8 * PAGE_BYTES, middle)
  closeSync(file)
  const exported = await call('GET', '/api/admin/orders/export').catch(() => 'cut off')
  if (exported !== 'cut off') t.match(exported, { status: 503, body: { detail: DAMAGED } })
  t.match(await call('POST', '/api/admin/orders', newOrder()), {
    status: 503,
    body: { detail: DAMAGED },
  })
})

t.test('a book that was moved away is used on once it is back', async (t) => {
  const { service, call, path } = await prepare(t)
  const enter = () => call('POST', '/api/admin/orders', newOrder())
  renameSync(path, `${path}.moved`)
  t.match(await enter(), { status: 503, body: { detail: OTHER_FILE } })
  t.equal((await call('GET', '/readyz')).status, 503)
  renameSync(`${path}.moved`, path)
  t.equal((await enter()).status, 201)
  t.equal((await call('GET', '/readyz')).status, 200)

  for (const end of ['-wal', '-shm']) rmSync(path + end)
  t.match(await enter(), { status: 503, body: { detail: OTHER_FILE } })
  service.process.kill('SIGTERM')
  t.equal(await service.ended, 0)
  const again = await caller(await startService(t, { DATA_DIR: service.dataDir }))
  t.match(
    await again('GET', '/api/admin/orders'),
    { body: { totalItems: STORED + 4 } },
    'what its journal held was written into it when the service was stopped',
  )
})
