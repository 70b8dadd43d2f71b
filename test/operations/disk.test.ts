import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { getOrderStorePath } from '../../src/order-store/sqlite/sqlite-order-store.js'
import { logIn } from '../support/sign-in.js'
import { temporaryFolder } from '../support/app.js'
import { checkStore } from '../support/store-check.js'
import { newOrder } from '../support/order-store.js'
import { comesTrue } from '../support/wait-for.js'
import { startService } from '../support/service.js'

const MEGABYTES = 6

/** Makes a folder a disk of its own; whether it may. */
const mount = (folder: string): boolean =>
  spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${MEGABYTES}m`, 'tmpfs', folder]).status === 0

t.test('a full disk loses nothing, is told, and is over when there is room', async (t) => {
  const dataDir = temporaryFolder(t)
  const isMounted = mount(dataDir)
  if (!isMounted) {
    t.pass('it is refused', { skip: 'not tried: this user may not mount a disk' })
    return
  }
  t.teardown(() => spawnSync('umount', ['-l', dataDir]))
  const { url, process: service, output, ended } = await startService(t, { DATA_DIR: dataDir })
  const headers = {
    authorization: `Bearer ${await logIn(url)}`,
    'content-type': 'application/json',
  }
  const orders = `${url}/api/admin/orders`
  const enter = async () => {
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
  let entered = 0
  for (; entered < 5; entered++) t.equal((await enter()).status, 201)

  const ballast = join(dataDir, 'ballast')
  for (const size of [1_000_000, 10_000, 100]) {
    try {
      for (let i = 0; i < 100; i++) writeFileSync(`${ballast}${size}-${i}`, Buffer.alloc(size))
    } catch {
      // Full, as it should be.
    }
  }
  let refused = await enter()
  // The journal may have some room of its own.
  for (; refused.status === 201 && entered < 2_000; entered++) refused = await enter()
  t.match(refused, { status: 503, body: { detail: /take no changes.*nothing was changed/ } })
  t.equal(await count(), entered, 'all that was acknowledged can be read')
  t.match(await readiness(), {
    status: 503,
    checks: { orders: { ready: false, detail: /takes no changes: .*(SQLITE_FULL|SQLITE_IOERR)/ } },
  })
  t.ok(await comesTrue(() => output().includes('the order book takes no changes')), 'in the log')

  spawnSync('find', [dataDir, '-name', 'ballast*', '-delete'])
  t.ok(await comesTrue(async () => (await readiness()).status === 200), 'without a hand')
  t.equal((await enter()).status, 201)
  t.equal(await count(), entered + 1)
  service.kill('SIGTERM')
  t.equal(await ended, 0)
  t.doesNotThrow(() => checkStore(getOrderStorePath(dataDir)))
})
