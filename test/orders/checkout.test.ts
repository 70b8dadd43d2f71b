import t, { type Test } from 'tap'
import { getDatabasePath } from '../../src/database/database-plugin.js'
import { migratePostgres } from '../../src/database/migrations.js'
import { openPostgres } from '../../src/database/postgres.js'
import {
  findAcceptedTerms,
  findTermsDifferences,
  wasEnded,
} from '../../src/orders/accepted-terms.js'
import type { Checkout } from '../../src/orders/order-checkout.js'
import { hashOrder } from '../../src/orders/order-command.js'
import { getEditPermission } from '../../src/orders/order-permissions.js'
import {
  getTransitions,
  inferStatusFields,
  isRefundDue,
  toLiveStatus,
  type LiveStatus,
  type OrderStatus,
} from '../../src/orders/order-status.js'
import type { NewOrder, Order, OrderChanges } from '../../src/orders/order.js'
import type { OrderStore } from '../../src/orders/store/order-store.js'
import { temporaryFolder } from '../support/app.js'
import {
  downgradeStore,
  POSTGRES_DOWNGRADE,
  POSTGRES_WITHOUT_STATUS_COLUMNS,
} from '../support/downgrade-store.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { importInto } from '../support/orders-csv.js'
import { startTwoAdmins } from '../support/page-client.js'
import { startPostgres } from '../support/postgres.js'
import { openFileStore, openPostgresStore, openTestStore } from '../support/stores.js'

/** The schema version of PostgreSQL without guest orders. */
const VERSION_BEFORE_ORDERING = 6

const CHECKOUT: Checkout = {
  beneficiary: 'Ann & Ben',
  isPublic: true,
  company: null,
  vatId: 'PT123456789',
  portfolioId: 2,
  portfolioName: 'Blue Carbon',
  sharePercent: 150,
  pricePerTonneMinor: 2500,
  offsetMinor: 2250,
  serviceFeeMinor: 225,
  paymentMethod: 'invoice',
}

/** The trip emits 599.97 kg. */
const GUEST_ORDER: NewOrder = {
  ...newOrder(),
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'hvo', quantity: 1000, unit: 'l' },
  co2eKg: 899.955,
  origin: 'guest',
  checkout: CHECKOUT,
}

async function create(store: OrderStore, order: NewOrder, key?: string): Promise<Order> {
  const result = await store.create(order, 'guest', key)
  if (result.outcome === 'idempotency_key_reused') throw new Error(result.outcome)
  return result.order
}

/** Checks that a store keeps origin and checkout. */
async function checkStore(t: Test, store: OrderStore): Promise<void> {
  const order = await create(store, GUEST_ORDER, 'key')
  t.match(order, { origin: 'guest', checkout: CHECKOUT })
  t.strictSame(await store.get(order.id), order)
  const context = { by: 'ann', ifVersions: null }
  await store.apply(order.id, { type: 'edit', changes: { status: 'paid' } }, context)
  t.match(await store.get(order.id), { status: 'paid', origin: 'guest', checkout: CHECKOUT })
  t.match(await create(store, newOrder()), { origin: null, checkout: null })

  t.equal((await create(store, GUEST_ORDER, 'key')).id, order.id, 'a retry is recognised')
  const other = { ...GUEST_ORDER, checkout: { ...CHECKOUT, beneficiary: 'Ben' } }
  t.match(await store.create(other, 'guest', 'key'), { outcome: 'idempotency_key_reused' })
}

t.test('SQLite keeps origin and checkout, and gets the columns by migration', async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  const before = await openFileStore({ path, timeZone: 'UTC' })
  const { id } = await create(before, newOrder({ notes: 'of version 5' }))
  await before.close()
  downgradeStore(path, 5)
  const store = await openTestStore(t, { path })
  t.match(await store.get(id), { notes: 'of version 5', origin: null, checkout: null })
  await checkStore(t, store)
})

async function startPostgresStore(t: Test) {
  const url = await (await startPostgres(t)).createDatabase()
  const postgres = openPostgres(url, { poolSize: 2 })
  t.teardown(() => postgres.close())
  await migratePostgres(postgres)
  return { postgres, store: await openPostgresStore(postgres, url) }
}

t.test('PostgreSQL keeps origin and checkout, and gets the columns by migration', async (t) => {
  const { postgres, store } = await startPostgresStore(t)
  const { id } = await create(store, newOrder({ notes: 'of an earlier version' }))
  // Newest migration first. No totals yet: they are added in the background.
  for (const statement of [
    ...POSTGRES_DOWNGRADE,
    'DROP TABLE recovery_codes, passkeys, authenticator_apps',
    'DROP TABLE audit_chain, audit_log, sessions, account_links, accounts',
    'DROP INDEX orders_by_fulfilment',
    'DROP TABLE order_totals',
    'ALTER TABLE order_counts RENAME TO order_totals',
    'ALTER INDEX order_counts_pkey RENAME TO order_totals_pkey',
    'ALTER TABLE order_totals ADD COLUMN co2e_mg NUMERIC NOT NULL, ADD COLUMN amount_minor NUMERIC NOT NULL',
    'ALTER TABLE orders DROP COLUMN origin, DROP COLUMN checkout',
    'DROP TABLE order_links',
    'DROP TABLE certificates',
    'DROP TABLE conversion_counts, conversion_orders, payments',
    `UPDATE schema_version SET version = ${VERSION_BEFORE_ORDERING}`,
  ]) {
    await postgres.query(statement)
  }
  t.equal(await migratePostgres(postgres), VERSION_BEFORE_ORDERING)
  t.match(await store.get(id), { notes: 'of an earlier version', origin: null, checkout: null })
  await checkStore(t, store)
})

/**
 * Adds orders that went through these statuses, and returns them with their history. An order
 * without history was imported.
 */
async function addJourneys(store: OrderStore): Promise<Order[]> {
  const journeys: (LiveStatus | 'cancel' | 'undo')[][] = [
    ['pending'],
    ['pending', 'cancel'],
    ['pending', 'cancel', 'undo'],
    ['pending', 'paid', 'processing', 'fulfilled', 'refunded'],
    ['pending', 'paid', 'undo'],
    ['pending', 'paid', 'undo', 'processing', 'cancel'],
    ['pending', 'fulfilled', 'cancel', 'undo', 'cancel', 'refunded', 'cancel'],
    ['paid', 'fulfilled'],
    ['fulfilled', 'cancel'],
    ['refunded', 'cancel'],
  ]
  const ids: string[] = []
  for (const [status, ...steps] of journeys) {
    const live = toLiveStatus(status)
    const { id } = await create(store, newOrder(live === undefined ? {} : { status: live }))
    for (const step of steps) {
      const command =
        step === 'cancel' || step === 'undo'
          ? ({ type: step } as const)
          : ({ type: 'edit', changes: { status: step } } as const)
      const { outcome } = await store.apply(id, command, { by: 'ann', ifVersions: null })
      if (outcome !== 'changed') throw new Error(`${step}: ${outcome}`)
    }
    ids.push(id)
  }
  const orders = await Promise.all(ids.map((id) => store.get(id)))
  return orders.filter((order) => order !== null)
}

/** Checks orders after a migration, and that their history says the same. */
async function checkJourneys(t: Test, store: OrderStore, orders: readonly Order[]) {
  for (const order of orders) {
    t.strictSame(await store.get(order.id), order)
    const { cancelledFrom, paidAt } = order
    const history = (await store.getHistory(order.id)) ?? []
    t.same(inferStatusFields(order, history), { cancelledFrom, paidAt })
  }
  const slice = { sort: 'placedAt', offset: 0, limit: 50 } as const
  const { items } = await store.list({ exception: ['not_refunded'] }, slice)
  t.same(
    items.map(({ id }) => id),
    orders.filter(isRefundDue).map(({ id }) => id),
  )
}

t.test('SQLite infers from the history what orders remember', async (t) => {
  const path = getDatabasePath(temporaryFolder(t))
  const before = await openFileStore({ path, timeZone: 'UTC' })
  const orders = await addJourneys(before)
  await before.close()
  downgradeStore(path, 17)
  const store = await openTestStore(t, { path })
  await checkJourneys(t, store, orders)
})

t.test('PostgreSQL infers from the history what orders remember', async (t) => {
  const { postgres, store } = await startPostgresStore(t)
  const orders = await addJourneys(store)
  for (const statement of POSTGRES_DOWNGRADE) await postgres.query(statement)
  t.equal(await migratePostgres(postgres), POSTGRES_WITHOUT_STATUS_COLUMNS)
  await checkJourneys(t, store, orders)
})

t.test('without a history, an order counts as paid when it was fulfilled or created', (t) => {
  const [createdAt, fulfilledAt] = ['2026-02-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z']
  const infer = (status: OrderStatus, fulfilled: string | null = null) =>
    inferStatusFields({ status, createdAt, fulfilledAt: fulfilled }, [])
  t.same(infer('pending'), { cancelledFrom: null, paidAt: null })
  t.same(infer('paid'), { cancelledFrom: null, paidAt: createdAt })
  t.same(infer('refunded', fulfilledAt), { cancelledFrom: null, paidAt: fulfilledAt })
  t.same(infer('cancelled'), { cancelledFrom: null, paidAt: null })
  t.same(infer('cancelled', fulfilledAt), { cancelledFrom: null, paidAt: fulfilledAt })
  const unknown = { status: 'cancelled', cancelledFrom: null } as const
  t.same(getTransitions({ ...unknown, paidAt: null }), ['pending'])
  t.same(getTransitions({ ...unknown, paidAt: fulfilledAt }), ['refunded'])
  t.end()
})
t.test(
  'what a guest accepted is known from older orders, if their history is complete',
  async (t) => {
    const store = await openTestStore(t)
    const { id } = await create(store, { ...GUEST_ORDER, amountMinor: 2475, currency: 'EUR' })
    const edit = (changes: OrderChanges) =>
      store.apply(id, { type: 'edit', changes }, { by: 'ann', ifVersions: null })
    const read = async () => {
      const order = await store.get(id)
      if (order === null) throw new Error('no order')
      return { order, history: (await store.getHistory(id)) ?? [] }
    }
    await edit({ currency: 'JPY', amountMinor: 60 })
    await edit({ co2eKg: 1, status: 'paid' })
    const { order, history } = await read()
    const accepted = findAcceptedTerms(order, history)
    t.same(accepted, { amountMinor: 2475, currency: 'EUR', co2eKg: 899.955, portfolioId: 2 })
    t.same(accepted && findTermsDifferences(order, accepted), ['CO₂e', 'currency', 'amount'])
    t.equal(findAcceptedTerms(order, history.slice(0, -2)), null, 'not without its first changes')

    await edit({ currency: 'EUR', amountMinor: 2475, co2eKg: 899.955 })
    const restored = await read()
    t.same(accepted && findTermsDifferences(restored.order, accepted), [])
    const checkout = { ...CHECKOUT, amountMinor: 2475, currency: 'USD', co2eKg: 5 }
    t.match(
      findAcceptedTerms({ ...order, checkout }, []),
      { currency: 'USD', co2eKg: 5 },
      'recorded',
    )
  },
)

t.test('an imported cancelled order could be bought after its restoration', (t) => {
  const change = (from: string, to: string) => ({ changes: [{ field: 'status', from, to }] })
  t.notOk(wasEnded([change('paid', 'processing'), change('pending', 'paid')]))
  t.ok(wasEnded([change('pending', 'paid'), change('cancelled', 'pending')]))
  t.ok(wasEnded([change('refunded', 'paid')]))
  t.end()
})

t.test('an imported order without an origin lost the protection of a guest’s order', (t) => {
  const imported = { origin: 'admin', checkout: CHECKOUT } as const
  t.equal(getEditPermission(imported, ['co2eKg']), 'orders:settle')
  t.equal(getEditPermission({ ...imported, checkout: null }, ['co2eKg']), 'orders:write')
  t.end()
})

t.test('the stored hash of an order does not depend on its origin', (t) => {
  const order = newOrder()
  t.equal(hashOrder({ ...order, origin: 'api', checkout: null }), hashOrder(order))
  t.end()
})

t.test('the origin of an order follows from how it is created', async (t) => {
  const { ann } = await startTwoAdmins(t)
  const byApi = await ann.call('POST', '/api/admin/orders', newOrder())
  t.match(byApi, { origin: 'api', checkout: null })
  const form = {
    customerName: 'Ann',
    customerEmail: 'ann@example.com',
    co2eKg: '10',
    amount: '5',
    currency: 'EUR',
  }
  const { headers } = await ann.post('/admin/orders', form)
  t.match(await ann.call('GET', `/api${headers.get('location')}`), { origin: 'admin' })

  const { errors } = await ann.call('POST', '/api/admin/orders', { ...newOrder(), origin: 'guest' })
  t.same(errors, [{ path: 'origin', message: 'is not a known field' }])
  const patched = await ann.call('PATCH', `/api/admin/orders/${byApi.id}`, { checkout: null })
  t.same(patched.errors, [{ path: 'checkout', message: 'cannot be changed' }])
})

t.test('an order that offsets more than its trip emits keeps its share', async (t) => {
  const dataDir = temporaryFolder(t)
  const store = await openFileStore({ path: getDatabasePath(dataDir), timeZone: 'UTC' })
  const { id } = await create(store, { ...GUEST_ORDER, co2eKg: 471.03 })
  await store.close()

  const { ann } = await startTwoAdmins(t, { DATA_DIR: dataDir })
  const page = await ann.get(`/admin/orders/${id}`)
  t.match(page.text, /Changes the CO₂e of the order to 899\.955 kg CO₂e/)
  const shown = page.text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  t.match(
    shown,
    /Created by A guest Payment Invoice Portfolio Blue Carbon Share 100% \+ 50% additional contribution/,
  )
  t.match(shown, /Quoted credits €22\.50 Quoted service fee €2\.25/)
  t.match(shown, /certificate Ann &amp; Ben Certificate May be published VAT ID PT123456789/)
  const recalculated = await ann.call('POST', `/api/admin/orders/${id}/recalculate`)
  t.equal(recalculated.co2eKg, 899.955)
  const { text } = await ann.get(`/admin/orders/${id}`)
  t.match(text, /The order is for 100% \+ 50% additional contribution\./)
})

t.test('an export keeps origin and checkout, and an import restores them', async (t) => {
  const dataDir = temporaryFolder(t)
  const source = await openFileStore({ path: getDatabasePath(dataDir), timeZone: 'UTC' })
  await create(source, GUEST_ORDER)
  await source.close()
  const { ann } = await startTwoAdmins(t, { DATA_DIR: dataDir })
  const { text: csv } = await ann.get('/admin/orders/export?format=csv')

  const restore = async (file: string) => {
    const path = getDatabasePath(temporaryFolder(t))
    const outcome = await importInto(path, file)
    if (!outcome.ok) return { errors: outcome.errors.getFirst() }
    return { order: await (await openTestStore(t, { path })).get('1') }
  }
  t.match(await restore(csv), { order: { origin: 'guest', checkout: CHECKOUT } })
  const old =
    'customerName,customerEmail,co2eKg,amountMinor,currency\nAnn,ann@example.com,1,1,EUR\n'
  t.match(await restore(old), { order: { origin: null, checkout: null } })
  t.match(await restore(csv.replace(',guest,', ',robot,')), {
    errors: [{ column: 'origin', message: 'must be one of guest, admin, api, or null' }],
  })
})

t.test('the API documents origin and checkout', async (t) => {
  const { call } = await startOrderApi(t)
  const { body } = await call('GET', '/openapi.json')
  const text = JSON.stringify(body)
  t.match(text, /Name on the certificate/)
  t.match(text, /Who created the order/)
})
