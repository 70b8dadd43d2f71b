import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { getSchemaVersion, SCHEMA_VERSION } from '../../src/database/migrations.js'
import { hashOrder } from '../../src/orders/order-command.js'
import type { NewOrder } from '../../src/orders/order.js'
import { temporaryFolder } from '../support/app.js'
import { downgradeStore } from '../support/downgrade-store.js'
import { toText } from '../support/guest.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { importInto } from '../support/orders-csv.js'
import { startTwoAdmins } from '../support/page-client.js'
import { openTestStore } from '../support/stores.js'

const TRIP = {
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'hvo', quantity: 1000, unit: 'l' },
} as const

/** Starts the service with one order, and lets `change` edit its row in the database. */
async function startWithOrder(t: Test, co2eKg: number, change: (db: Database.Database) => void) {
  const dataDir = temporaryFolder(t)
  const service = await startTwoAdmins(t, { DATA_DIR: dataDir })
  const order = await service.ann.call('POST', '/api/admin/orders', {
    ...newOrder(),
    ...TRIP,
    co2eKg,
  })
  const db = new Database(join(dataDir, 'orders.db'))
  change(db)
  db.close()
  return { ...service, path: `/admin/orders/${order.id}`, version: String(order.version) }
}

t.test('an order of an earlier version has no recorded edition', async (t) => {
  const { ann, path, version } = await startWithOrder(t, 314.02, (db) =>
    db.exec('UPDATE orders SET calculation = NULL'),
  )
  const page = toText(await ann.get(path))
  t.match(page, /Edition not recorded\. This is the result of edition 2026-11\./)
  t.match(page, /The order is for 314\.02 kg CO₂e, 286 kg \(48%\) less than its trip\./)
  t.match(page, /Changes the CO₂e of the order to 599\.97 kg CO₂e\. The amount does not change\./)

  const recalculated = await ann.post(`${path}/recalculate`, { version })
  t.equal(recalculated.status, 303)
  const after = toText(await ann.get(path))
  t.match(after, /was recalculated\./)
  t.match(after, /Calculated with edition 2026-11\./)
  t.notMatch(after, /Recalculate with edition/)
  t.match(after, /Emission factors.*not recorded.*edition 2026-11/)
})

t.test('an order of an older edition is shown as it was, with the difference', async (t) => {
  const { ann, path } = await startWithOrder(t, 500, (db) =>
    db.exec(`UPDATE orders SET calculation =
      json_set(calculation, '$.edition', '2025-06', '$.co2eKg', 500, '$.wellToTankCo2eKg', 464.42)`),
  )
  const page = toText(await ann.get(path))
  t.match(page, /This trip emits 500\.0 kg CO₂e/)
  t.match(page, /Calculated with edition 2025-06\./)
  t.match(page, /Edition 2026-11 gives 599\.97 kg CO₂e: 100 kg \(20%\) more\./)
  t.match(page, /UK Government \(DESNZ\) conversion factors 2025/)
  t.notMatch(page, /conversion factors 2026/)
})

t.test('an order of an unknown edition is shown with its factors', async (t) => {
  const { ann, path } = await startWithOrder(t, 599.97, (db) =>
    db.exec(`UPDATE orders SET calculation = json_set(calculation, '$.edition', '2099-06')`),
  )
  const page = await ann.get(path)
  t.equal(page.status, 200)
  t.match(toText(page), /Calculated with edition 2099-06\./)
  t.match(toText(page), /Well-to-tank 0\.56439 kg CO₂e\/l/)
})

t.test('the page of an order lists the lines of its trip', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const { id } = await ann.call('POST', '/api/admin/orders', {
    ...newOrder(),
    calculatorType: 'fuel',
    calculatorData: {
      fuelType: 'mgo',
      quantity: 1000,
      unit: 'l',
      guests: 12,
      furtherLines: [
        { use: 'tender', fuelType: 'petrol', quantity: 40, unit: 'l' },
        { fuelType: 'mgo', quantity: 5, unit: 'kg', hvoPercent: 30 },
      ],
    },
  })
  const page = toText(await ann.get(`/admin/orders/${id}`))
  t.match(page, /Tender 40\slitres, Petrol \(mineral\)/)
  t.match(page, /Another fuel 5\skg, Marine diesel \/ gas oil, 30% HVO/)
  t.match(page, /Guests on board 12/)
  t.match(page, /Per person 286\.6\skg CO₂e/)
})

t.test('recalculating an outdated page changes nothing', async (t) => {
  const { ann, ben, path, version } = await startWithOrder(t, 314.02, () => undefined)
  await ben.post(`${path}/status`, { version, status: 'paid' })
  const response = await ann.post(`${path}/recalculate`, { version })
  t.equal(response.status, 412)
  t.match(toText(response), /This order has changed since you opened it/)
  t.match(toText(await ann.get(path)), /314\.02 kg/)
})

t.test('an export keeps the calculation, and an import restores it', async (t) => {
  const { ann, path } = await startWithOrder(t, 599.97, () => undefined)
  const { text: csv } = await ann.get('/admin/orders/export?format=csv')
  const order = await ann.call('GET', `/api${path}`)
  const copy = join(temporaryFolder(t), 'orders.db')
  t.ok((await importInto(copy, csv)).ok)
  const store = await openTestStore(t, { path: copy })
  t.strictSame((await store.get('1'))?.calculation, order.calculation)
})

t.test('a database of an earlier schema gets the column, and keeps its orders', async (t) => {
  const dataDir = temporaryFolder(t)
  const path = join(dataDir, 'orders.db')
  const first = await startTwoAdmins(t, { DATA_DIR: dataDir })
  const { id } = await first.ann.call('POST', '/api/admin/orders', {
    ...newOrder(),
    ...TRIP,
    co2eKg: 314.02,
  })
  await first.app.close()
  downgradeStore(path, 2)

  const second = await startTwoAdmins(t, { DATA_DIR: dataDir })
  const order = await second.ann.call('GET', `/api/admin/orders/${id}`)
  t.match(order, { co2eKg: 314.02, calculation: null })
  const migrated = new Database(path)
  t.equal(getSchemaVersion(migrated), SCHEMA_VERSION)
  migrated.close()
})

t.test('the stored hash of an order does not depend on the calculation', (t) => {
  // As version 0.1.0 stored it: a retry across an upgrade must be recognised.
  const { request, rows } = JSON.parse(
    readFileSync(join(projectRoot, 'test', 'contract', 'nocodb-rows-0.1.0.json'), 'utf8'),
  ) as { request: { order: NewOrder }; rows: [{ Record: string }] }
  const record = JSON.parse(rows[0].Record) as { request: string }
  t.equal(hashOrder(request.order), record.request)
  t.end()
})

t.test('the API calculates the CO2e of a trip, and warns about one that differs', async (t) => {
  const { call } = await startOrderApi(t)
  const create = async (values: object) => {
    const order = { ...newOrder(), ...TRIP, ...values }
    const { status, headers, body } = await call('POST', '/api/admin/orders', order)
    return { status, body, warning: headers.get('clearwake-warning') }
  }
  t.match(await create({ co2eKg: undefined }), { body: { co2eKg: 599.97 }, warning: null })
  t.match(await create({ co2eKg: 600 }), { body: { co2eKg: 600 }, warning: null }, 'rounded')
  t.match(await create({ co2eKg: 500 }), {
    body: { co2eKg: 500 },
    warning: 'co2eKg differs from the trip, which emits 599.97 kg',
  })
  t.match(await create({ co2eKg: undefined, calculatorData: null }), {
    status: 422,
    body: { errors: [{ path: 'co2eKg', message: 'is required' }] },
  })
})
