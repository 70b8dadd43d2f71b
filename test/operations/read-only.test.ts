import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { getOrderStorePath } from '../../src/order-store/sqlite/sqlite-order-store.js'
import { built } from '../support/built.js'
import { ADMIN_ACCOUNTS, logIn, postLogin, verify } from '../support/sign-in.js'
import { SECRET, temporaryFolder } from '../support/app.js'
import { fillStore, newOrder } from '../support/order-store.js'
import { usualOrders } from '../support/orders.js'
import { comesTrue } from '../support/wait-for.js'
import { startService } from '../support/service.js'

const run = (command: string, ...given: string[]): boolean => spawnSync(command, given).status === 0

/** Whether files can be made read-only here for those who have them open, too. */
function locksOpenFiles(folder: string): boolean {
  const path = join(folder, 'probe')
  const file = openSync(path, 'a')
  try {
    if (!run('chattr', '+i', path)) return false
    writeSync(file, 'x')
    return false
  } catch {
    return true
  } finally {
    closeSync(file)
    run('chattr', '-i', path)
    rmSync(path)
  }
}

/** What is left of a service that is to end by itself: its code and its message. */
async function failedStart(folder: string) {
  const { PATH } = process.env
  const service = spawn(process.execPath, [built('server.js')], {
    env: { PATH, PORT: '0', DATA_DIR: folder, SESSION_SECRET: SECRET, ADMIN_ACCOUNTS },
  })
  let message = ''
  service.stderr.on('data', (part: Buffer) => (message += part.toString()))
  const [code] = (await once(service, 'close')) as [number | null]
  return { code, message }
}

t.test('a book in a folder that may only be read ends the start with a sentence', async (t) => {
  const folder = temporaryFolder(t)
  fillStore(getOrderStorePath(folder), 'UTC', usualOrders(10))
  const isMounted =
    run('mount', '--bind', folder, folder) && run('mount', '-o', 'remount,ro,bind', folder)
  t.teardown(() => spawnSync('umount', ['-l', folder]))
  if (!isMounted) {
    t.pass('it is refused', { skip: 'not tried: this user may not mount a folder' })
    return
  }
  const { code, message } = await failedStart(folder)
  t.equal(code, 1)
  t.match(message, /^Clearwake cannot start: .*orders\.db cannot be opened \(\w+\): .*read.*\.\n$/)
})

t.test('a folder that turns read-only takes no changes until it can be written', async (t) => {
  const dataDir = temporaryFolder(t)
  const { url, output, process: service, ended } = await startService(t, { DATA_DIR: dataDir })
  const headers = {
    authorization: `Bearer ${await logIn(url)}`,
    'content-type': 'application/json',
  }
  const leaving = await logIn(url)
  const ask = async (path: string, method = 'GET', body?: unknown) => {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) }
    const response = await fetch(url + path, { method, headers, ...sent })
    return { status: response.status, body: (await response.json()) as unknown }
  }
  const enter = () => ask('/api/admin/orders', 'POST', newOrder())
  t.equal((await enter()).status, 201)

  const files = ['', 'orders.db', 'orders.db-wal', 'remembered'].map((name) => join(dataDir, name))
  const release = () => run('chattr', '-i', ...files)
  t.teardown(release)
  if (!locksOpenFiles(dataDir) || !run('chattr', '+i', ...files)) {
    t.pass('it is refused', { skip: 'not tried: open files cannot be made read-only here' })
    return
  }
  t.match(await enter(), { status: 503, body: { detail: /take no changes.*nothing was changed/ } })
  t.match(await ask('/api/admin/orders/1', 'PATCH', { notes: 'x' }), { status: 503 })
  for (const path of ['', '?q=ann', '/1', '/1/history']) {
    t.equal((await ask(`/api/admin/orders${path}`)).status, 200, 'reading goes on')
  }
  t.match(await ask('/readyz'), {
    status: 503,
    body: {
      checks: {
        orders: { ready: false, detail: /takes no changes/ },
        sessions: { ready: false, detail: /permission denied|read-only/ },
      },
    },
  })
  t.equal((await postLogin(url)).status, 200)
  const logout = await fetch(`${url}/api/admin/logout`, {
    method: 'POST',
    headers: { authorization: `Bearer ${leaving}` },
  })
  t.equal(logout.status, 503)
  t.equal((await verify(url, leaving)).status, 401, 'it has ended all the same')
  t.equal((await ask('/healthz')).status, 200)
  t.ok(await comesTrue(() => output().includes('the order book takes no changes')), 'in the log')

  t.ok(release())
  t.ok(await comesTrue(async () => (await ask('/readyz')).status === 200), 'without a hand')
  t.equal((await enter()).status, 201)
  t.match(await ask('/api/admin/orders'), { body: { totalItems: 2 } })
  service.kill('SIGTERM')
  t.equal(await ended, 0)
})

t.test('a folder that is gone is told, and used again where it is back', async (t) => {
  const { url, dataDir } = await startService(t)
  const authorization = `Bearer ${await logIn(url)}`
  const readiness = async () => {
    const response = await fetch(`${url}/readyz`)
    return { status: response.status, body: (await response.json()) as unknown }
  }
  const enter = async () => {
    const headers = { authorization, 'content-type': 'application/json' }
    const body = JSON.stringify(newOrder())
    return (await fetch(`${url}/api/admin/orders`, { method: 'POST', headers, body })).status
  }
  renameSync(dataDir, `${dataDir}-moved`)
  t.equal(await enter(), 503)
  t.match(await readiness(), {
    status: 503,
    body: {
      checks: {
        orders: { detail: /has been removed, replaced or cut off/ },
        sessions: { detail: /the directory does not exist, ENOENT/ },
      },
    },
  })
  renameSync(`${dataDir}-moved`, dataDir)
  t.equal((await readiness()).status, 200)
  t.equal(await enter(), 201)
})

t.test('a fault that no process can go on from ends it at once', async (t) => {
  const { process: service } = await startService(t)
  const ended = once(service, 'exit')
  service.kill('SIGBUS')
  t.same(await ended, [null, 'SIGBUS'], 'not closing, which could wait without end')
})
