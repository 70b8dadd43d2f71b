import { spawn } from 'node:child_process'
import { once } from 'node:events'
import Database from 'better-sqlite3'
import pg from 'pg'
import t from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { postJson, temporaryFolder } from '../support/app.js'
import { distPath } from '../support/dist-path.js'
import { fillStore, newOrder } from '../support/order-store.js'
import { typicalOrders } from '../support/orders.js'
import { startPostgres } from '../support/postgres.js'
import { copyOrders } from '../support/run-command.js'
import { startService } from '../support/service.js'
import { signIn } from '../support/sign-in.js'
import { waitUntil } from '../support/wait-for.js'

const ORDERS = 6_000
const server = await startPostgres(t)

const call = async (url: string, token: string, path: string, method = 'GET', body?: object) => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const sent = body === undefined ? {} : { body: JSON.stringify(body) }
  const response = await fetch(url + path, { method, headers, ...sent })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** Tables with another form, or other content, in each database. */
const UNLIKE_TABLES = ['orders', 'changes', 'order_totals', 'settings']

/** Names of the tables that both databases have and that should be copied as they are. */
async function findSharedTables(db: Database.Database, url: string): Promise<string[]> {
  const inSqlite = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").pluck().all()
  const inPostgres = await readRows(
    url,
    "SELECT tablename::text AS row FROM pg_tables WHERE schemaname = 'public' ORDER BY 1",
  )
  return inPostgres.filter((name) => inSqlite.includes(name) && !UNLIKE_TABLES.includes(name))
}

/** Adds a row with a different value in every column. */
function addRow(db: Database.Database, table: string): object {
  const columns = db.pragma(`table_info(${table})`) as { name: string; type: string }[]
  const values = columns.map(({ name, type }, i) => (type === 'TEXT' ? name : 40 + i))
  db.prepare(`INSERT INTO ${table} VALUES (${values.map(() => '?').join(', ')})`).run(values)
  return Object.fromEntries(columns.map(({ name }, i) => [name, values[i]]))
}

/** Rows of a table, as text in the order of their keys. */
async function readRows(url: string, sql: string): Promise<string[]> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query<{ row: string }>(sql)).rows.map(({ row }) => row)
  } finally {
    await client.end()
  }
}

t.test('orders are moved while the service shows them, and the copy is killed', async (t) => {
  const dataDir = temporaryFolder(t)
  await fillStore(getDatabasePath(dataDir), 'UTC', typicalOrders(ORDERS))
  const from = await startService(t, { DATA_DIR: dataDir, ORDERS_READ_ONLY: 'true' })
  const token = await signIn(from.url)

  const url = await server.createDatabase()
  const environment = { DATA_DIR: dataDir, DATABASE_URL: url }
  const copy = spawn(
    process.execPath,
    [distPath('commands', 'orders-copy.js'), '--from', 'sqlite', '--to', 'postgres'],
    { env: { PATH: process.env.PATH, ...environment }, stdio: 'ignore' },
  )
  const exited = once(copy, 'exit')
  const countCopied = async () =>
    Number((await readRows(url, 'SELECT count(*) AS row FROM orders').catch(() => ['0']))[0])
  t.ok(await waitUntil(async () => (await countCopied()) > 0, { everyMs: 5 }))
  copy.kill('SIGSTOP')

  const list = await call(from.url, token, '/api/admin/orders')
  t.match(JSON.parse(list.text), { totalItems: ORDERS })
  for (const [method, path] of [
    ['POST', '/api/admin/orders'],
    ['PATCH', '/api/admin/orders/1'],
    ['DELETE', '/api/admin/orders/1'],
  ] as const) {
    const body = method === 'POST' ? newOrder() : method === 'PATCH' ? { notes: 'x' } : undefined
    const rejected = await call(from.url, token, path, method, body)
    t.equal(rejected.status, 503, method)
    t.equal(rejected.headers.get('retry-after'), '60')
    t.match(rejected.text, /Orders are read-only for maintenance\. Nothing was changed\./)
  }
  const page = await call(from.url, token, '/admin/orders')
  t.match(page.text, /Orders are read-only for maintenance\. Changes cannot be saved/)
  const estimate = await postJson(`${from.url}/api/calculators/custom/estimate`, {
    amount: 1,
    unit: 'kg',
  })
  t.equal(estimate.status, 200, 'guests are not affected')

  copy.kill('SIGKILL')
  await exited
  const copied = await countCopied()
  t.ok(copied > 0 && copied < ORDERS, `${copied} orders were copied`)
  t.match(await copyOrders(environment), {
    code: 0,
    output: /6,000 orders copied\. Both databases have the same content/,
  })

  const to = await startService(t, { DATABASE_URL: url })
  const moved = await signIn(to.url)
  const path = '/api/admin/orders?sort=orderNumber&pageSize=100&page=60'
  t.equal((await call(to.url, moved, path)).text, (await call(from.url, token, path)).text)
  t.equal((await call(to.url, moved, '/api/admin/orders', 'POST', newOrder())).status, 201)
})

t.test('a copy contains all other tables, and new rows get higher numbers', async (t) => {
  const dataDir = temporaryFolder(t)
  // Rows of other tables can refer to any of these orders.
  await fillStore(getDatabasePath(dataDir), 'UTC', typicalOrders(60))
  const url = await server.createDatabase()
  const environment = { DATA_DIR: dataDir, DATABASE_URL: url }
  t.match(await copyOrders(environment), { code: 0 })
  const db = new Database(getDatabasePath(dataDir))
  t.teardown(() => db.close())
  const tables = await findSharedTables(db, url)
  // The only table with a row from the start.
  db.exec('DELETE FROM audit_chain')
  const expected = tables.map((table) => addRow(db, table))
  t.match(await copyOrders(environment), { code: 0 })

  for (const [i, table] of tables.entries()) {
    const rows = await readRows(url, `SELECT row_to_json(t) AS row FROM ${table} t`)
    t.same(rows, [expected[i]], table)
  }
  t.same(await readRows(url, "SELECT nextval('outbox_position_seq')::text AS row"), ['41'])
})

t.test('a copy leaves a database with other orders unchanged', async (t) => {
  const url = await server.createDatabase()
  const service = await startService(t, { DATABASE_URL: url })
  const token = await signIn(service.url)
  const create = (key: string) =>
    postJson(`${service.url}/api/admin/orders`, newOrder(), {
      authorization: `Bearer ${token}`,
      'idempotency-key': key,
    })
  for (const key of ['a', 'b', 'c']) await create(key)
  const readAll = async () => [
    ...(await readRows(url, 'SELECT t::text AS row FROM orders t ORDER BY id')),
    ...(await readRows(url, 'SELECT t::text AS row FROM idempotency_keys t ORDER BY key')),
    ...(await readRows(url, 'SELECT last_value::text AS row FROM order_ids')),
  ]
  const before = await readAll()
  t.equal(before.length, 7)

  const dataDir = temporaryFolder(t)
  await fillStore(getDatabasePath(dataDir), 'UTC', typicalOrders(20))
  t.match(await copyOrders({ DATA_DIR: dataDir, DATABASE_URL: url }), {
    code: 1,
    errors: /differ from those in SQLite: copy into an empty database/,
  })
  t.same(await readAll(), before)
  t.match((await create('a')).body, { id: '1' })
})
