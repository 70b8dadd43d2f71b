import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { SECRET, temporaryFolder } from '../support/app.js'
import { distPath } from '../support/dist-path.js'
import { fillStore, newOrder } from '../support/order-store.js'
import { typicalOrders } from '../support/orders.js'
import { startService } from '../support/service.js'
import { ADMIN_ACCOUNTS, parseSetCookies, postLogin, signIn } from '../support/sign-in.js'
import { waitUntil } from '../support/wait-for.js'

const run = (command: string, ...given: string[]): boolean => spawnSync(command, given).status === 0

/** Whether a file can be made read-only for processes that have it open. */
function canLockOpenFiles(folder: string): boolean {
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

/** Starts a service that must exit, and returns its exit code and message. */
async function runFailingStart(folder: string) {
  const { PATH } = process.env
  const service = spawn(process.execPath, [distPath('server.js')], {
    env: { PATH, PORT: '0', DATA_DIR: folder, SESSION_SECRET: SECRET, ADMIN_ACCOUNTS },
  })
  let message = ''
  service.stderr.on('data', (part: Buffer) => (message += part.toString()))
  const [code] = (await once(service, 'close')) as [number | null]
  return { code, message }
}

t.test('fails to start with a message if the database directory is read-only', async (t) => {
  const folder = temporaryFolder(t)
  await fillStore(getDatabasePath(folder), 'UTC', typicalOrders(10))
  const isMounted =
    run('mount', '--bind', folder, folder) && run('mount', '-o', 'remount,ro,bind', folder)
  t.teardown(() => spawnSync('umount', ['-l', folder]))
  if (!isMounted) {
    t.pass('not permitted', { skip: 'this user may not mount a folder' })
    return
  }
  const { code, message } = await runFailingStart(folder)
  t.equal(code, 1)
  t.match(message, /^Clearwake cannot start: Cannot open .*orders\.db: .*not writable \(\w+\)\.\n$/)
})

t.test(
  'orders can be read while the directory is read-only, and changed again afterwards',
  async (t) => {
    const dataDir = temporaryFolder(t)
    const { url, output, process: service, ended } = await startService(t, { DATA_DIR: dataDir })
    const headers = {
      authorization: `Bearer ${await signIn(url)}`,
      'content-type': 'application/json',
    }
    const leaving = await signIn(url)
    const call = async (path: string, method = 'GET', body?: unknown) => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const response = await fetch(url + path, { method, headers, ...sent })
      return { status: response.status, body: (await response.json()) as unknown }
    }
    const create = () => call('/api/admin/orders', 'POST', newOrder())
    t.equal((await create()).status, 201)

    const files = ['', 'orders.db', 'orders.db-wal'].map((name) => join(dataDir, name))
    const release = () => run('chattr', '-i', ...files)
    t.teardown(release)
    if (!canLockOpenFiles(dataDir) || !run('chattr', '+i', ...files)) {
      t.pass('not supported', { skip: 'open files cannot be made read-only here' })
      return
    }
    t.match(await create(), {
      status: 503,
      body: { detail: /cannot be saved at the moment\. Nothing was changed/ },
    })
    t.match(await call('/api/admin/orders/1', 'PATCH', { notes: 'x' }), { status: 503 })
    for (const path of ['', '?q=ann', '/1', '/1/history']) {
      t.equal((await call(`/api/admin/orders${path}`)).status, 200, 'orders are readable')
    }
    t.match(await call('/readyz'), {
      status: 503,
      body: {
        checks: {
          orders: { ready: false, detail: /cannot be written to/ },
        },
      },
    })
    t.equal((await postLogin(url)).status, 503)
    const logout = await fetch(`${url}/api/admin/logout`, {
      method: 'POST',
      headers: { authorization: `Bearer ${leaving}` },
    })
    t.equal(logout.status, 503)
    t.match(parseSetCookies(logout).get('clearwake'), /Expires=Thu, 01 Jan 1970/)
    t.equal((await call('/healthz')).status, 200)
    t.ok(await waitUntil(() => /Orders cannot be saved.*SQLITE_/.test(output())), 'in the log')

    t.ok(release())
    t.ok(
      await waitUntil(async () => (await call('/readyz')).status === 200),
      'recovers automatically',
    )
    t.equal((await create()).status, 201)
    t.match(await call('/api/admin/orders'), { body: { totalItems: 2 } })
    service.kill('SIGTERM')
    t.equal(await ended, 0)
  },
)

t.test('reports a missing directory and resumes when it is back', async (t) => {
  const { url, dataDir } = await startService(t)
  const authorization = `Bearer ${await signIn(url)}`
  const readiness = async () => {
    const response = await fetch(`${url}/readyz`)
    return { status: response.status, body: (await response.json()) as unknown }
  }
  const create = async () => {
    const headers = { authorization, 'content-type': 'application/json' }
    const body = JSON.stringify(newOrder())
    return (await fetch(`${url}/api/admin/orders`, { method: 'POST', headers, body })).status
  }
  renameSync(dataDir, `${dataDir}-moved`)
  t.equal(await create(), 503)
  t.match(await readiness(), {
    status: 503,
    body: {
      checks: {
        orders: { detail: /was moved, removed or replaced/ },
      },
    },
  })
  renameSync(`${dataDir}-moved`, dataDir)
  t.equal((await readiness()).status, 200)
  t.equal(await create(), 201)
})

t.test('a fatal signal ends the process at once', async (t) => {
  const { process: service } = await startService(t)
  const ended = once(service, 'exit')
  service.kill('SIGBUS')
  t.same(await ended, [null, 'SIGBUS'], 'without a graceful shutdown')
})
