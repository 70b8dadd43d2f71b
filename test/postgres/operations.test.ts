import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t, { type Test } from 'tap'
import { postJson, temporaryFolder } from '../support/app.js'
import { startMailService } from '../support/mail-service.js'
import { newOrder } from '../support/order-store.js'
import { findDebianPostgres, startPostgres } from '../support/postgres.js'
import { startService, type Service } from '../support/service.js'
import { signIn, verify } from '../support/sign-in.js'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

async function getBody(url: string, token: string): Promise<any> {
  return (await fetch(url, { headers: bearer(token) })).json()
}

const readStats = async ({ url }: Service, token: string) =>
  (await postJson(`${url}/api/admin/stats`, { range: '90d' }, bearer(token))).body

/** A digest of the rows of each table, except for events and leases, which change in the background. */
async function readDigests(url: string): Promise<Record<string, unknown>> {
  const client = new pg.Client(url)
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('order_events', 'leases') ORDER BY 1",
  )
  const digests: Record<string, unknown> = {}
  for (const { name } of rows) {
    const digest = `SELECT count(*), md5(string_agg(t::text, ',' ORDER BY t::text)) FROM ${name} t`
    digests[name] = (await client.query(digest)).rows[0]
  }
  await client.end()
  return digests
}

t.test('a dump is restored on an empty server', async (t) => {
  const programs = findDebianPostgres()
  if (programs === null) {
    t.pass('not installed', { skip: 'pg_dump is not installed' })
    return
  }
  const [server, other] = await Promise.all([
    startPostgres(t, {}, { programs }),
    startPostgres(t, {}, { programs }),
  ])
  const [from, to] = [await server.createDatabase(), await other.createDatabase()]
  const before = await startService(t, { DATABASE_URL: from })
  const token = await signIn(before.url)
  const orders = `${before.url}/api/admin/orders`
  for (let i = 1; i <= 20; i++) {
    await postJson(orders, newOrder({ customerName: `Ζωή ${i}` }), bearer(token))
  }
  await fetch(`${orders}/3`, { method: 'DELETE', headers: bearer(token) })

  const dump = execFileSync(join(programs, 'pg_dump'), ['--format=custom', from])
  execFileSync(join(programs, 'pg_restore'), ['--no-owner', '--exit-on-error', '-d', to], {
    input: dump,
  })
  t.same(await readDigests(to), await readDigests(from))
  const after = await startService(t, { DATABASE_URL: to })
  t.same(await readStats(after, token), await readStats(before, token))
  const found = await getBody(
    `${after.url}/api/admin/orders?q=${encodeURIComponent('ζωη 12')}`,
    token,
  )
  t.match(found, { totalItems: 1, items: [{ orderNumber: 'CW-000012' }] })
  t.match(await getBody(`${after.url}/api/admin/orders/3`, token), { status: 'cancelled' })
  const created = await postJson(`${after.url}/api/admin/orders`, newOrder(), bearer(token))
  t.match(created.body, { id: '21', orderNumber: 'CW-000021' })
})

/** A command prefix that makes the file system read-only; empty if that is not permitted. */
function getReadOnlyPrefix(t: Test): string[] {
  const prefix = ['unshare', '-m', 'sh', '-c', 'mount -o remount,bind,ro / && exec "$0" "$@"']
  const [command = '', ...args] = prefix
  const folder = temporaryFolder(t)
  try {
    execFileSync(command, [...args, 'true'], { stdio: 'ignore' })
  } catch {
    return []
  }
  try {
    execFileSync(command, [...args, 'touch', join(folder, 'x')], { stdio: 'ignore' })
    return []
  } catch {
    return prefix
  }
}

t.test('with PostgreSQL, nothing is written to disk, and a process can be replaced', async (t) => {
  const server = await startPostgres(t)
  // The variables of the README
  const environment = {
    HOST: '0.0.0.0',
    PUBLIC_BASE_URL: 'https://carbon.example.com',
    TRUST_PROXY: '1',
    DATABASE_URL: await server.createDatabase(),
    DATA_DIR: join(temporaryFolder(t), 'data'),
    TMPDIR: '/nonexistent',
    HOME: '/nonexistent',
  }
  const cwd = temporaryFolder(t)
  const prefix = getReadOnlyPrefix(t)
  t.comment(prefix.length > 0 ? 'read-only file system' : 'writable file system')
  const start = () => startService(t, environment, { prefix, cwd })
  const first = await start()
  const token = await signIn(first.url)
  const revoked = await signIn(first.url)
  const admin = `${first.url}/api/admin`
  await fetch(`${admin}/logout`, { method: 'POST', headers: bearer(revoked) })
  for (let i = 1; i <= 5; i++) {
    t.equal((await postJson(`${admin}/orders`, newOrder(), bearer(token))).status, 201)
  }
  for (const format of ['csv', 'xlsx']) {
    const path = `${admin}/orders/export?format=${format}`
    const response = await fetch(path, { headers: bearer(token) })
    t.equal(response.status, 200)
    t.ok((await response.arrayBuffer()).byteLength > 500, format)
  }
  const trip = {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
    vessel: { name: 'Ever Given' },
  }
  t.equal((await postJson(`${first.url}/api/qr-code/generate`, trip)).status, 200)
  first.process.kill('SIGKILL')
  await first.ended

  const second = await start()
  t.equal((await verify(second.url, token)).status, 200, 'sessions continue')
  t.equal((await verify(second.url, revoked)).status, 401, 'revoked sessions stay revoked')
  t.match(await getBody(`${second.url}/api/admin/orders`, token), { totalItems: 5 })
  t.same(readdirSync(cwd), [])
  t.notOk(existsSync(environment.DATA_DIR))
})

t.test('one connection is enough for orders and their emails', async (t) => {
  const DATABASE_URL = await (await startPostgres(t)).createDatabase()
  const service = await startMailService(t, { DATABASE_URL, DATABASE_POOL_SIZE: '1' })
  await service.order()
  await service.waitForMails(1)
  await service.setStatus('paid')
  t.match((await service.waitForMails(2)).headers.get('subject'), 'Payment received')
})
