import { execFile, spawn } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  readdirSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { temporaryFolder } from '../support/app.js'
import { distPath } from '../support/dist-path.js'
import { fillStore, newOrder } from '../support/order-store.js'
import { typicalOrders } from '../support/orders.js'
import { startService } from '../support/service.js'
import { signIn } from '../support/sign-in.js'
import { checkStore } from '../support/store-check.js'
import { openFileStore } from '../support/stores.js'
import { waitUntil } from '../support/wait-for.js'

const run = promisify(execFile)

/** Runs `npm run -s orders:backup -- FILE`. */
const backUp = (dataDir: string, file: string, environment: NodeJS.ProcessEnv = {}) =>
  run(process.execPath, [distPath('commands', 'orders-backup.js'), file], {
    cwd: dataDir,
    env: { PATH: process.env.PATH, DATA_DIR: dataDir, ...environment },
  })

t.test('a backup during writes is intact and has all orders written before', async (t) => {
  const dataDir = temporaryFolder(t)
  const path = getDatabasePath(dataDir)
  await fillStore(path, 'UTC', [])
  const writer = spawn(process.execPath, [
    join(projectRoot, '.test', 'test', 'support', 'store-writer.js'),
    path,
  ])
  t.teardown(() => writer.kill('SIGKILL'))
  let written = ''
  writer.stdout.on('data', (part: Buffer) => (written += part.toString()))
  t.ok(await waitUntil(() => written.split('\n').length > 20))
  for (let copy = 0; copy < 3; copy++) {
    const acknowledged = written
      .split('\n')
      .slice(0, -1)
      .map((line) => line.split(' ', 2))
    const file = join(temporaryFolder(t), 'copy.db')
    const { stdout } = await backUp(dataDir, file)
    t.match(stdout, /^[\d,]+ orders backed up to .*copy\.db\n$/)
    t.equal(statSync(file).mode & 0o777, 0o600)
    t.same(readdirSync(join(file, '..')), ['copy.db'], 'without other files')
    t.doesNotThrow(() => checkStore(file))
    const store = await openFileStore({ path: file, timeZone: 'UTC' })
    for (const [id = '', version] of acknowledged) {
      if (((await store.get(id))?.version ?? 0) < Number(version))
        t.fail(`version ${version} of ${id}`)
    }
    await store.close()
  }
})

t.test('does not overwrite files and reports why a backup failed', async (t) => {
  const dataDir = temporaryFolder(t)
  const fails = (file: string, stderr: RegExp, environment = {}) =>
    t.rejects(backUp(dataDir, file, environment), { code: 1, stdout: '', stderr })
  await fails('copy.db', /^The backup failed: Order database not found: .*orders\.db \(DATA_DIR\)/)
  t.notOk(existsSync(getDatabasePath(dataDir)), 'and creates none')
  await fillStore(getDatabasePath(dataDir), 'UTC', typicalOrders(10))
  writeFileSync(join(dataDir, 'kept'), 'kept')
  await fails('kept', /^The backup failed: .*kept already exists: name a new file\.$/m)
  await fails('orders.db', /orders\.db already exists/)
  await fails('none/copy.db', /Cannot open .*copy\.db: .*ENOENT/)
  await fails('', /^Usage/)
  truncateSync(getDatabasePath(dataDir), 20_000)
  await fails('copy.db', /orders\.db is damaged/)
  t.same(
    readdirSync(dataDir).filter((name) => /copy|tmp/.test(name)),
    [],
    'leaves no files',
  )
})

t.test('a backup says that orders mirror NocoDB', async (t) => {
  const dataDir = temporaryFolder(t)
  await fillStore(getDatabasePath(dataDir), 'UTC', [])
  const file = join(temporaryFolder(t), 'copy.db')
  const { stdout } = await backUp(dataDir, file, {
    DATABASE_BASE_URL: 'http://127.0.0.1:9',
    DATABASE_BASE_ID: 'base',
    DATABASE_API_KEY: 'key',
    DATABASE_ORDERS_TABLE_ID: 'table',
  })
  t.match(stdout, /^0 orders backed up to .*copy\.db\nThese orders mirror NocoDB/)
  t.doesNotThrow(() => checkStore(file))
})

t.test('a backup can be restored', async (t) => {
  const first = await startService(t)
  const authorization = `Bearer ${await signIn(first.url)}`
  const call = async (url: string, method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}/api/admin/orders${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return (await response.json()) as Record<string, unknown>
  }
  const kept = await call(first.url, 'POST', '', newOrder({ customerName: 'Zoë Κ.' }))
  await call(first.url, 'PATCH', '/1', { status: 'paid' })
  const file = join(temporaryFolder(t), 'copy.db')
  await backUp(first.dataDir, file)
  await call(first.url, 'PATCH', '/1', { notes: 'after the copy' })
  first.process.kill('SIGTERM')
  t.equal(await first.ended, 0)

  const dataDir = temporaryFolder(t)
  copyFileSync(file, getDatabasePath(dataDir))
  const again = await startService(t, { DATA_DIR: dataDir })
  t.match(await call(again.url, 'GET', '/1'), {
    orderNumber: kept.orderNumber,
    customerName: 'Zoë Κ.',
    status: 'paid',
    version: 2,
    notes: '',
  })
  t.match(await call(again.url, 'GET', '?q=zoe'), { totalItems: 1 })
  t.match(await call(again.url, 'GET', '/1/history'), { items: [{ version: 2 }] })
  t.match(await call(again.url, 'POST', '', newOrder()), { orderNumber: 'CW-000002' })
})
