import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { temporaryFolder } from '../support/app.js'
import { newOrder } from '../support/order-store.js'
import { startService } from '../support/service.js'
import { signIn } from '../support/sign-in.js'
import { checkStore } from '../support/store-check.js'
import { waitUntil } from '../support/wait-for.js'

const MEGABYTES = 6

/** Mounts a small disk on a folder; returns whether that is permitted. */
const mount = (folder: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m`, 'tmpfs', folder]).status === 0

t.test('a full disk loses no orders, is reported, and recovers when there is space', async (t) => {
  const dataDir = temporaryFolder(t)
  const isMounted = mount(dataDir)
  if (!isMounted) {
    t.pass('not permitted', { skip: 'this user may not mount a disk' })
    return
  }
  t.teardown(() => spawnSync('umount', ['-l', dataDir]))
  const { url, process: service, output, ended } = await startService(t, { DATA_DIR: dataDir })
  const headers = {
    authorization: `Bearer ${await signIn(url)}`,
    'content-type': 'application/json',
  }
  const orders = `${url}/api/admin/orders`
  const create = async () => {
    const body = JSON.stringify(newOrder({ notes: 'x'.repeat(5_000) }))
    const response = await fetch(orders, { method: 'POST', headers, body })
    return { status: response.status, body: (await response.json()) as { detail?: string } }
  }
  const count = async () =>
    ((await (await fetch(orders, { headers })).json()) as { totalItems: number }).totalItems
  const readiness = async () => {
    const response = await fetch(`${url}/readyz`)
    return { status: response.status, checks: (await response.json()).checks }
  }
  let created = 0
  for (; created < 5; created++) t.equal((await create()).status, 201)

  const ballast = join(dataDir, 'ballast')
  for (const size of [1_000_000, 10_000, 100]) {
    try {
      for (let i = 0; i < 100; i++) writeFileSync(`${ballast}${size}-${i}`, Buffer.alloc(size))
    } catch {
      // The disk is full.
    }
  }
  let rejected = await create()
  // The journal may have free space.
  for (; rejected.status === 201 && created < 2_000; created++) rejected = await create()
  t.match(rejected, {
    status: 503,
    body: { detail: /cannot be saved at the moment\. Nothing was changed/ },
  })
  t.equal(await count(), created, 'all acknowledged orders are readable')
  t.match(await readiness(), {
    status: 503,
    checks: {
      orders: { ready: false, detail: /cannot be written to: .*(SQLITE_FULL|SQLITE_IOERR)/ },
    },
  })
  t.ok(await waitUntil(() => /Orders cannot be saved.*SQLITE_/.test(output())), 'in the log')

  spawnSync('find', [dataDir, '-name', 'ballast*', '-delete'])
  t.ok(await waitUntil(async () => (await readiness()).status === 200), 'recovers automatically')
  t.equal((await create()).status, 201)
  t.equal(await count(), created + 1)
  service.kill('SIGTERM')
  t.equal(await ended, 0)
  t.doesNotThrow(() => checkStore(getDatabasePath(dataDir)))
})
