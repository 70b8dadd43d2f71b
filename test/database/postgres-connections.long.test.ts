import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { startApp, temporaryFolder } from '../support/app.js'
import { createCertificate } from '../support/certificate.js'
import { newOrder } from '../support/order-store.js'
import { NOBODY_USER, startPostgres } from '../support/postgres.js'
import { ADMIN_ACCOUNTS, signIn } from '../support/sign-in.js'

const getStartError = async (t: Parameters<typeof startApp>[0], DATABASE_URL: string) =>
  startApp(t, { DATABASE_URL }).then(
    () => 'it started',
    (error: unknown) => String(error),
  )

t.test('explains why TLS fails at the start', async (t) => {
  const plain = await (await startPostgres(t)).createDatabase()
  t.match(
    await getStartError(t, `${plain}?sslmode=verify-full`),
    /^DatabaseUnavailableError: PostgreSQL is not available: The server does not support SSL/,
  )

  const folder = temporaryFolder(t)
  chmodSync(folder, 0o755)
  const { key, cert } = createCertificate()
  const files = { ssl_key_file: join(folder, 'key.pem'), ssl_cert_file: join(folder, 'cert.pem') }
  for (const [path, content] of [
    [files.ssl_key_file, key],
    [files.ssl_cert_file, cert],
  ] as const) {
    writeFileSync(path, content, { mode: 0o600 })
    const { uid, gid } = NOBODY_USER
    if (uid !== undefined) chownSync(path, uid, gid)
  }
  const secure = await (await startPostgres(t, { ssl: 'on', ...files })).createDatabase()
  t.match(
    await getStartError(t, `${secure}?sslmode=verify-full`),
    /its certificate cannot be verified \(DEPTH_ZERO_SELF_SIGNED_CERT\); see sslmode in docs/,
  )
  t.equal(await getStartError(t, `${secure}?sslmode=no-verify`), 'it started')
})

t.test('a start waits while another process counts all orders again', async (t) => {
  const DATABASE_URL = await (await startPostgres(t)).createDatabase()
  await startApp(t, { DATABASE_URL })
  const other = new pg.Client(DATABASE_URL)
  await other.connect()
  await other.query('BEGIN')
  await other.query("SELECT value FROM settings WHERE name = 'time_zone' FOR UPDATE")
  const started = startApp(t, { DATABASE_URL, TIME_ZONE: 'Europe/Athens' })
  // Fastify gives a plugin 10 seconds by default.
  await Promise.race([started, sleep(12_000)])
  await other.query('COMMIT')
  await other.end()
  t.equal((await fetch(`${(await started).url}/readyz`)).status, 200)
})

t.test('an export without a free connection responds 503, and works later', async (t) => {
  const server = await startPostgres(t, {
    max_connections: '6',
    superuser_reserved_connections: '0',
  })
  const databaseUrl = await server.createDatabase()
  const { url } = await startApp(t, {
    ADMIN_ACCOUNTS,
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: '2',
  })
  const headers = {
    authorization: `Bearer ${await signIn(url)}`,
    'content-type': 'application/json',
  }
  await fetch(`${url}/api/admin/orders`, {
    method: 'POST',
    headers,
    body: JSON.stringify(newOrder()),
  })
  const connect = async (): Promise<pg.Client | null> => {
    const client = new pg.Client(databaseUrl)
    return client.connect().then(
      () => client,
      () => null,
    )
  }
  const clients: pg.Client[] = []
  for (const format of ['csv', 'xlsx']) {
    // Also those that the service's pool closes meanwhile, because they are idle.
    for (let one = await connect(); one !== null; one = await connect()) clients.push(one)
    t.ok(clients.length > 0)
    const response = await fetch(`${url}/api/admin/orders/export?format=${format}`, { headers })
    t.equal(response.status, 503, format)
    t.equal(response.headers.get('retry-after'), '5')
  }
  await Promise.all(clients.map((client) => client.end()))
  const response = await fetch(`${url}/api/admin/orders/export`, { headers })
  t.equal(response.status, 200)
  t.match(await response.text(), /CW-000001/)
})
