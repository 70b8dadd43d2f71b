import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { temporaryFolder } from '../support/app.js'
import { waitForCertificate } from '../support/guest-orders.js'
import { createGuest, findLink, toText } from '../support/guest.js'
import { RETIREMENT } from '../support/order-store.js'
import { startTwoAdmins } from '../support/page-client.js'
import { startPostgres } from '../support/postgres.js'

// Opens databases that an earlier version wrote.

const FOLDER = join(projectRoot, 'test', 'upgrade', '2026-11-24')
const read = (name: string): Buffer => readFileSync(join(FOLDER, name))

interface Written {
  /** An API key with the scopes orders:read and orders:write */
  key: string
  /** Private pages of the guest orders 1 to 6 */
  paths: [string, string, string, string, string, string]
  /** The code of the certificate of order 3 */
  certificate: string
}

const facts = JSON.parse(read('facts.json').toString()) as {
  sessionSecret: string
  sqlite: Written
  postgres: Written
}

async function checkUpgrade(t: Test, environment: NodeJS.ProcessEnv, written: Written) {
  const { ann, url } = await startTwoAdmins(t, {
    SESSION_SECRET: facts.sessionSecret,
    CURRENCY: 'EUR',
    PRICE_PER_TONNE: '24.50',
    ...environment,
  })
  const guest = createGuest(url)
  const { items } = await ann.call('GET', '/api/admin/orders?sort=orderNumber')
  const orders = new Map<string, any>(items.map((order: { id: string }) => [order.id, order]))
  const getFields = (id: string) => {
    const { status, cancelledFrom, paidAt, fulfilledAt, retirement } = orders.get(id)
    return [status, cancelledFrom, paidAt !== null, fulfilledAt !== null, retirement]
  }
  t.same(
    ['1', '2', '3', '4', '5', '6', '7'].map(getFields),
    [
      ['pending', null, false, false, null],
      ['paid', null, true, false, null],
      ['fulfilled', null, true, true, null],
      ['cancelled', 'paid', true, false, null],
      ['cancelled', 'pending', false, false, null],
      ['refunded', null, true, false, null],
      ['cancelled', 'fulfilled', true, true, null],
    ],
    'what orders remember comes from their history',
  )

  const certificate = await guest.get(`/c/${written.certificate}`)
  t.match(toText(certificate), /Carbon credits for 2,000 kg of CO₂e have been retired/)
  t.equal((await guest.get(findLink(certificate, 'Download PDF'))).status, 200)
  t.equal(findLink(await guest.get(written.paths[2]), 'View the page'), `/c/${written.certificate}`)
  const attention = await ann.call('GET', '/api/admin/orders?exception=no_evidence')
  t.same(
    attention.items.map(({ id }: { id: string }) => id),
    ['3'],
  )
  const notRefunded = await ann.call('GET', '/api/admin/orders?exception=not_refunded')
  t.same(notRefunded.items.map(({ id }: { id: string }) => id).sort(), ['4', '7'])

  for (const path of written.paths) t.match(toText(await guest.get(path)), /Order CW-00000\d/)

  const patch = (id: string, changes: object) =>
    fetch(`${url}/api/admin/orders/${id}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${written.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(changes),
    })
  t.equal((await patch('1', { status: 'paid' })).status, 200, 'the key may still settle orders')
  t.equal((await patch('5', { status: 'paid' })).status, 409)
  t.equal((await patch('4', { status: 'paid' })).status, 200, 'back to where it was')
  t.equal((await patch('4', { retirement: RETIREMENT })).status, 200)
  t.ok(await waitForCertificate(guest, written.paths[3]))
}

t.test('SQLite', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const path = getDatabasePath(DATA_DIR)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, gunzipSync(read('clearwake.sqlite.gz')))
  await checkUpgrade(t, { DATA_DIR }, facts.sqlite)
})

t.test('PostgreSQL', async (t) => {
  const server = await startPostgres(t)
  const DATABASE_URL = await server.createDatabase()
  const client = new pg.Client(DATABASE_URL)
  await client.connect()
  // Commands of psql start with a backslash.
  await client.query(
    gunzipSync(read('clearwake.sql.gz'))
      .toString()
      .replace(/^\\.*$/gm, ''),
  )
  await client.end()
  await checkUpgrade(t, { DATABASE_URL }, facts.postgres)
})
