import type { Test } from 'tap'
import { startFakeProvider } from '../../src/demo/fake-provider/fake-provider.js'
import { getTransitions, ORDER_STATUSES } from '../../src/orders/order-status.js'
import { NewOrder } from '../../src/orders/order.js'
import { startOrderApi, type OrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-store.js'
import { randomOrders } from '../support/orders.js'
import { cookieHeader, postLogin, signIn } from '../support/sign-in.js'
import { waitFor, waitUntilReady } from '../support/wait-for.js'

const ORDERS = '/api/admin/orders'

/** The error message of each field. */
export const byField = ({ errors }: { errors: { path: string; message: string }[] }) =>
  Object.fromEntries(errors.map(({ path, message }) => [path, message]))

interface Store {
  /** Returns the environment of services that share a new, empty store */
  createEnvironment: (t: Test) => Promise<NodeJS.ProcessEnv>
  /** Throws if the store is inconsistent */
  check?: (environment: NodeJS.ProcessEnv) => void
}

/** Texts that would break an unescaped condition, pattern or quotation. */
const SPECIAL_TEXTS = [
  'x)~or(Status,eq,paid',
  '@(Id,gt,0)',
  '"); drop table orders; --',
  "O'Brien & Sons",
  `both "quotes" and 'quotes'`,
  'back\\slash \\" \\n',
  '100 % of _all_ %20 %25',
  ' spaces at both ends ',
  '{{7*7}} ${7*7} <b>&amp;</b>',
  'null',
  '0012',
  '1e3',
  '2026-11-20',
  'true',
  '[]',
  '⛵🏴‍☠️ Ζωή Straße 第三海丸 سفينة',
]

/** Order API tests that apply to every order store. */
export function ordersContract(t: Test, { createEnvironment, check }: Store): void {
  async function start(t: Test, environment: NodeJS.ProcessEnv = {}): Promise<OrderApi> {
    const service = await startOrderApi(t, { ...(await createEnvironment(t)), ...environment })
    await waitUntilReady(service.url)
    return service
  }

  /** Starts two services that share a store, like two processes. */
  async function startPair(t: Test) {
    const environment = await createEnvironment(t)
    const first = await startOrderApi(t, environment)
    const second = await startOrderApi(t, environment)
    await Promise.all([waitUntilReady(first.url), waitUntilReady(second.url)])
    return { first, second, check: () => check?.(environment) }
  }

  t.test('creates an order with all fields and returns it unchanged', async (t) => {
    const { call } = await start(t)
    const given = {
      status: 'paid',
      customerName: 'Ζωή Παπαδοπούλου ⛵',
      customerEmail: 'zoe@example.com',
      vesselName: 'Ever Given',
      imoNumber: 'IMO 9811000',
      calculatorType: 'fuel',
      calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
      co2eKg: 1603.123456789012,
      amountMinor: 4009,
      currency: 'EUR',
      orderSourceId: 'off_123',
      notes: 'first line\nsecond line\t"quoted"',
      placedAt: '2026-03-29T02:30:00+02:00',
    }
    const created = await call('POST', ORDERS, given)
    t.equal(created.status, 201)
    t.equal(created.headers.get('location'), `${ORDERS}/${created.body.id}`)
    t.equal(created.headers.get('etag'), '"1"')
    t.match(created.body, {
      ...given,
      imoNumber: '9811000',
      placedAt: '2026-03-29T00:30:00.000Z',
      orderNumber: 'CW-000001',
      fulfilledAt: null,
      cancelledAt: null,
      version: 1,
    })
    const read = await call('GET', `${ORDERS}/${created.body.id}`)
    t.equal(read.status, 200)
    t.equal(read.headers.get('etag'), '"1"')
    t.strictSame(read.body, created.body)
  })

  t.test('records the calculation of a trip, and keeps it through edits', async (t) => {
    const { call } = await start(t)
    const trip = {
      calculatorType: 'fuel',
      calculatorData: {
        fuelType: 'mgo',
        quantity: 1000,
        unit: 'l',
        hvoPercent: 30,
        guests: 12,
        furtherLines: [
          {
            use: 'shore-power',
            fuelType: 'electricity',
            quantity: 300,
            unit: 'kWh',
            kgCo2ePerKwh: 0.2,
            factorSource: 'Grid 2025',
          },
        ],
      },
    }
    const estimated = await call('POST', '/api/calculators/fuel/estimate', trip.calculatorData)
    const { co2eKg, lines, edition, co2eKgPerGuest } = estimated.body
    const created = await call('POST', ORDERS, { ...newOrder(), ...trip, co2eKg: 1000 })
    t.match(created.body.calculation, { co2eKg, lines, edition, co2eKgPerGuest })
    t.match(
      created.body.calculation.factors.find(({ line }: { line?: number }) => line === 2),
      { value: 0.2, unit: 'kg CO2e/kWh', source: 'entered: Grid 2025' },
    )
    const path = `${ORDERS}/${created.body.id}`
    const edited = await call('PATCH', path, { notes: 'Paid' })
    t.strictSame(edited.body.calculation, created.body.calculation)
    const read = await call('GET', path)
    t.strictSame(read.body.calculation, created.body.calculation)
  })

  t.test('recalculates an order, as a change in its history', async (t) => {
    const { call } = await start(t)
    const trip = {
      calculatorType: 'fuel',
      calculatorData: { fuelType: 'hvo', quantity: 1000, unit: 'l' },
    }
    const created = await call('POST', ORDERS, { ...newOrder(), ...trip, co2eKg: 314.02 })
    const path = `${ORDERS}/${created.body.id}`
    const recalculated = await call('POST', `${path}/recalculate`)
    t.match(recalculated.body, { co2eKg: 599.97, version: 2, amountMinor: newOrder().amountMinor })
    const history = await call('GET', `${path}/history`)
    t.match(history.body.items[0].changes, [{ field: 'co2eKg', from: 314.02, to: 599.97 }])
    const again = await call('POST', `${path}/recalculate`)
    t.equal(again.body.version, 2, 'nothing is left to change')
    const stale = await call('POST', `${path}/recalculate`, undefined, { 'if-match': '"1"' })
    t.equal(stale.status, 412)
    const other = await call('POST', ORDERS, newOrder())
    t.equal(other.body.calculation, null)
    const unchanged = await call('POST', `${ORDERS}/${other.body.id}/recalculate`)
    t.match(unchanged.body, { version: 1, calculation: null })
  })

  t.test('fills in defaults for omitted fields', async (t) => {
    const { call } = await start(t)
    const before = Date.now()
    const { body } = await call(
      'POST',
      ORDERS,
      newOrder({ vesselName: null, calculatorData: null }),
    )
    t.match(body, {
      status: 'pending',
      vesselName: null,
      imoNumber: null,
      calculatorType: null,
      calculatorData: null,
      orderSourceId: null,
      notes: '',
    })
    for (const field of ['placedAt', 'createdAt', 'updatedAt']) {
      const at = Date.parse(body[field])
      t.ok(at >= before && at <= Date.now() && body[field].endsWith('Z'), field)
    }
  })

  t.test('rejects an invalid order with all errors at once', async (t) => {
    const { call } = await start(t)
    const getErrors = async (order: unknown) => {
      const { status, body } = await call('POST', ORDERS, order)
      t.equal(status, 422)
      return byField(body)
    }
    t.match(await getErrors({}), {
      customerName: 'is required',
      customerEmail: 'is required',
      co2eKg: 'is required',
      amountMinor: 'is required',
      currency: 'is required',
    })
    const wrong = {
      status: 'cancelled',
      customerName: ' ',
      customerEmail: 'not an address',
      vesselName: 'a\u0000b',
      imoNumber: '9811001',
      calculatorType: 'fuel',
      calculatorData: { fuelType: 'coal', quantity: 0, unit: 'l' },
      co2eKg: -1,
      amountMinor: 10.5,
      currency: 'eur',
      notes: 7,
      placedAt: 'yesterday',
      version: 3,
    }
    t.strictSame(
      Object.keys(await getErrors(wrong)).sort(),
      [...Object.keys(wrong), 'calculatorData.fuelType', 'calculatorData.quantity']
        .filter((path) => !['calculatorType', 'calculatorData'].includes(path))
        .sort(),
    )
    const wrongEmails = ['a@b@c', 'a b@c', '@c', 'a@', 'a..b@c', '<a@b>', 'a@b.', 'ä\n@b']
    for (const customerEmail of wrongEmails) {
      const errors = await getErrors(newOrder({ customerEmail }))
      t.match(errors, { customerEmail: /email address/ }, customerEmail)
    }
    const tomorrow = new Date(Date.now() + 25 * 60 * 60 * 1000).toISOString()
    t.match(await getErrors(newOrder({ placedAt: tomorrow })), { placedAt: /future/ })
    t.match(await getErrors(newOrder({ placedAt: '2026-02-30T00:00:00Z' })), {
      placedAt: /date and time/,
    })
    for (const placedAt of [
      '0000-01-01T00:00:00Z',
      '1899-12-31T23:59:59Z',
      '1900-01-01T00:00:00+14:00',
      '2199-12-31T23:59:59-14:00',
      '2200-01-01T00:00:00Z',
      '+012026-01-01T00:00:00Z',
    ]) {
      t.match(await getErrors(newOrder({ placedAt })), { placedAt: /1900 to 2199 in UTC/ })
    }
    t.match(await getErrors(newOrder({ calculatorData: {} })), {
      calculatorType: /required if calculatorData/,
    })
    t.match(await getErrors(newOrder({ co2eKg: 1e10 })), { co2eKg: /at most 1000000000$/ })
    t.equal((await call('GET', ORDERS)).body.totalItems, 0)
  })

  t.test('accepts the first and rejects the last possible time of an order', async (t) => {
    const { call } = await start(t)
    const created = await call('POST', ORDERS, newOrder({ placedAt: '1900-01-01T14:00:00+14:00' }))
    t.equal(created.status, 201)
    t.equal(created.body.placedAt, '1900-01-01T00:00:00.000Z')
    const late = await call('POST', ORDERS, newOrder({ placedAt: '2199-12-31T23:59:59Z' }))
    t.match(byField(late.body), { placedAt: 'must not be in the future' })
    const given = { placedAt: '2199-12-31T23:59:59Z', calculatorData: {}, customerName: '' }
    const wrong = await call('POST', ORDERS, given)
    t.equal(wrong.status, 422)
    const required = ['amountMinor', 'co2eKg', 'currency', 'customerEmail', 'customerName']
    t.same(
      Object.keys(byField(wrong.body)).sort(),
      [...required, 'calculatorType', 'placedAt'].sort(),
      'reports cross-field errors with all others',
    )
  })

  t.test('a retry with the same Idempotency-Key creates no second order', async (t) => {
    const { call } = await start(t)
    const repeats = await Promise.all(
      Array.from({ length: 10 }, () =>
        call('POST', ORDERS, newOrder(), { 'idempotency-key': 'k1' }),
      ),
    )
    t.strictSame([...new Set(repeats.map(({ status, body }) => `${status} ${body.id}`))], ['201 1'])
    t.equal((await call('GET', ORDERS)).body.totalItems, 1)
    const reversed = Object.fromEntries(Object.entries(newOrder()).toReversed())
    t.match(
      await call('POST', ORDERS, reversed, { 'idempotency-key': 'k1' }),
      { status: 201, body: { id: '1' } },
      'in any order of fields',
    )
    const explicit = newOrder({ status: 'pending', notes: '', vesselName: null, imoNumber: null })
    t.match(
      await call('POST', ORDERS, explicit, { 'idempotency-key': 'k1' }),
      { status: 201, body: { id: '1' } },
      'with explicit defaults',
    )
    const other = await call('POST', ORDERS, newOrder({ co2eKg: 1 }), { 'idempotency-key': 'k1' })
    t.equal(other.status, 422)
    t.match(other.body.errors, [{ path: 'Idempotency-Key' }])
    t.match(await call('POST', ORDERS, newOrder(), { 'idempotency-key': 'k2' }), {
      body: { id: '2' },
    })
    t.match(
      await call('POST', ORDERS, newOrder()),
      { body: { id: '3' } },
      'without a key, a new order each time',
    )
  })

  t.test('an edit keeps other fields, and the history records the changes', async (t) => {
    const { call } = await start(t)
    const { body: created } = await call('POST', ORDERS, newOrder({ vesselName: 'Aurora' }))
    const path = `${ORDERS}/${created.id}`
    const changed = await call('PATCH', path, {
      status: 'paid',
      vesselName: null,
      imoNumber: 'imo 9811000',
      notes: 'by bank transfer',
      currency: 'EUR',
    })
    t.equal(changed.status, 200)
    t.equal(changed.headers.get('etag'), '"2"')
    const { updatedAt } = changed.body
    const expected = {
      status: 'paid',
      vesselName: null,
      imoNumber: '9811000',
      notes: 'by bank transfer',
      paidAt: updatedAt,
    }
    t.strictSame(changed.body, { ...created, ...expected, version: 2, updatedAt })
    t.ok(updatedAt >= created.updatedAt)

    const same = await call('PATCH', path, { notes: 'by bank transfer', imoNumber: '9811000' })
    t.equal(same.body.version, 2, 'an edit without changes creates no version')

    const { items } = (await call('GET', `${path}/history`)).body
    t.match(items, [
      {
        at: updatedAt,
        by: 'admin@example.com',
        version: 2,
        changes: [
          { field: 'status', from: 'pending', to: 'paid' },
          { field: 'vesselName', from: 'Aurora', to: null },
          { field: 'notes', from: '', to: 'by bank transfer' },
          { field: 'imoNumber', from: null, to: '9811000' },
        ],
      },
      { at: created.createdAt, by: 'admin@example.com', version: 1, changes: [] },
    ])
    t.equal(items.length, 2)
  })

  t.test('erases personal data from orders, their history and the search', async (t) => {
    const { call } = await start(t)
    const customer = { customerName: 'Xanthippe Quill', customerEmail: 'Quill@example.com' }
    const { body: created } = await call('POST', ORDERS, newOrder({ ...customer, notes: 'Quill' }))
    const { body: other } = await call('POST', ORDERS, newOrder({ vesselName: 'Quill' }))
    const path = `${ORDERS}/${created.id}`
    const change = { customerName: 'X. Quill', notes: 'call Quill', status: 'paid' }
    const { paidAt } = (await call('PATCH', path, change)).body
    const before = (await call('POST', '/api/admin/stats', { range: 'all' })).body

    const erased = await call('POST', '/api/admin/erasures', { email: 'quill@EXAMPLE.com' })
    t.strictSame([erased.status, erased.body], [200, { orders: 1, remaining: 0 }])
    const { body: order } = await call('GET', path)
    t.strictSame(order, {
      ...created,
      status: 'paid',
      paidAt,
      customerName: 'Erased',
      customerEmail: 'erased@example.invalid',
      notes: '',
      version: 3,
      updatedAt: order.updatedAt,
    })
    const { items } = (await call('GET', `${path}/history`)).body
    t.match(items, [
      { version: 3, changes: [{ field: 'personalData', from: null, to: 'erased' }] },
      { version: 2, changes: { length: 3 } },
      { version: 1, changes: [] },
    ])
    t.match(items[1].changes, [
      { field: 'customerName', from: 'Erased', to: 'Erased' },
      { field: 'notes', from: '', to: '' },
      { field: 'status', from: 'pending', to: 'paid' },
    ])
    t.notMatch(JSON.stringify(items), /quill/i)
    const found = (await call('GET', `${ORDERS}?q=quill`)).body
    t.match(found, { totalItems: 1, items: [{ id: other.id }] }, 'a vessel is not personal data')
    t.strictSame((await call('POST', '/api/admin/stats', { range: 'all' })).body, before, 'totals')

    const again = await call('POST', '/api/admin/erasures', { email: 'quill@example.com' })
    t.strictSame(again.body, { orders: 0, remaining: 0 })
    const edited = await call('PATCH', path, { notes: 'as agreed' })
    t.equal(edited.status, 200, 'the order can be edited')
  })

  t.test('stores -0 as 0, and treats them as equal', async (t) => {
    const { url } = await start(t)
    const authorization = `Bearer ${await signIn(url)}`
    const send = async (method: string, path: string, body: string) => {
      const headers = { authorization, 'content-type': 'application/json' }
      return (await fetch(url + path, { method, headers, body })).json()
    }
    const given = JSON.stringify(newOrder({ co2eKg: 7, amountMinor: 7 })).replaceAll(':7', ':-0')
    t.match(await send('POST', ORDERS, given), { co2eKg: 0, amountMinor: 0, version: 1 })
    for (const change of ['{"co2eKg":-0.0}', '{"amountMinor":-0}', '{"co2eKg":0}']) {
      t.match(await send('PATCH', `${ORDERS}/1`, change), { version: 1 }, change)
    }
  })

  t.test('allows only valid status transitions, and returns the possible ones', async (t) => {
    const { call } = await start(t)
    for (const from of ORDER_STATUSES) {
      for (const to of ORDER_STATUSES.filter((status) => status !== 'cancelled')) {
        const status = from === 'cancelled' ? 'pending' : from
        const { body: created } = await call('POST', ORDERS, newOrder({ status }))
        const { body: order } =
          from === 'cancelled' ? await call('DELETE', `${ORDERS}/${created.id}`) : { body: created }
        const edited = await call('PATCH', `${ORDERS}/${order.id}`, { status: to, notes: 'edited' })
        const allowed = getTransitions(order).includes(to) || from === to
        t.equal(edited.status, allowed ? 200 : 409, `${from} to ${to}`)
        if (!allowed) {
          t.strictSame(edited.body.possibleStatuses, getTransitions(order))
          const { body } = await call('GET', `${ORDERS}/${order.id}`)
          t.match(body, { status: from, notes: '' }, 'nothing was changed')
        }
      }
    }
    const cancelled = await call('PATCH', `${ORDERS}/1`, { status: 'cancelled' })
    t.equal(cancelled.status, 422, 'an edit cannot cancel an order')
  })

  t.test('a cancelled order is kept, can be cancelled again, and can be restored', async (t) => {
    const { call } = await start(t)
    const { body: created } = await call('POST', ORDERS, newOrder({ status: 'fulfilled' }))
    t.ok(created.fulfilledAt)
    t.match(created, { cancelledFrom: null, paidAt: created.createdAt, retirement: null })
    const path = `${ORDERS}/${created.id}`
    const { status, body } = await call('DELETE', path)
    t.equal(status, 200)
    const { fulfilledAt, paidAt } = created
    t.match(body, { status: 'cancelled', cancelledFrom: 'fulfilled', version: 2 })
    t.match(body, { fulfilledAt, paidAt })
    t.equal(body.cancelledAt, body.updatedAt)
    t.strictSame((await call('DELETE', path)).body, body)
    const pending = await call('PATCH', path, { status: 'pending' })
    t.equal(pending.status, 409)
    t.same(pending.body.possibleStatuses, ['fulfilled', 'refunded'])
    const again = await call('PATCH', path, { status: 'fulfilled' })
    t.match(again.body, { status: 'fulfilled', version: 3, cancelledFrom: null, cancelledAt: null })
    t.match(again.body, { fulfilledAt, paidAt })
    t.equal((await call('DELETE', `${ORDERS}/99`)).status, 404)
    const { items } = (await call('GET', `${path}/history`)).body
    t.strictSame(
      items.map(({ changes }: { changes: unknown }) => changes),
      [
        [
          { field: 'status', from: 'cancelled', to: 'fulfilled' },
          { field: 'cancelledAt', from: body.cancelledAt, to: null },
        ],
        [{ field: 'status', from: 'fulfilled', to: 'cancelled' }],
        [],
      ],
      'the history keeps cleared timestamps',
    )
  })

  t.test('a refunded order that is cancelled cannot be paid again', async (t) => {
    const { call } = await start(t)
    const { body: created } = await call('POST', ORDERS, newOrder({ status: 'paid' }))
    const path = `${ORDERS}/${created.id}`
    await call('PATCH', path, { status: 'refunded' })
    t.match((await call('DELETE', path)).body, {
      cancelledFrom: 'refunded',
      paidAt: created.paidAt,
    })
    for (const status of ['pending', 'paid', 'processing', 'fulfilled']) {
      const { status: code, body } = await call('PATCH', path, { status })
      t.equal(code, 409, status)
      t.same(body.possibleStatuses, ['refunded'], status)
    }
    t.match((await call('PATCH', path, { status: 'refunded' })).body, { cancelledAt: null })
  })

  t.test('an order that was paid and cancelled needs attention until it is refunded', async (t) => {
    const { call } = await start(t)
    const find = async () =>
      (await call('GET', `${ORDERS}?exception=not_refunded`)).body.items.map(
        ({ id }: { id: string }) => id,
      )
    const { body: unpaid } = await call('POST', ORDERS, newOrder())
    const { body: paid } = await call('POST', ORDERS, newOrder({ status: 'paid' }))
    const { body: refunded } = await call('POST', ORDERS, newOrder({ status: 'paid' }))
    await call('PATCH', `${ORDERS}/${refunded.id}`, { status: 'refunded' })
    for (const { id } of [unpaid, paid, refunded]) await call('DELETE', `${ORDERS}/${id}`)
    t.same(await find(), [paid.id])
    const { exceptions } = (await call('POST', '/api/admin/stats', { range: 'all' })).body
    t.match(exceptions, { not_refunded: 1, no_evidence: 0 })
    const { body } = await call('PATCH', `${ORDERS}/${paid.id}`, { status: 'refunded' })
    t.match(body, { status: 'refunded', cancelledFrom: null, paidAt: paid.paidAt })
    t.same(await find(), [])
  })

  t.test('a retirement is kept, changed and removed', async (t) => {
    const { call } = await start(t)
    const { body: created } = await call('POST', ORDERS, newOrder())
    const path = `${ORDERS}/${created.id}`
    const retirement = {
      registry: 'Verra',
      reference: 'VCS-1-2',
      url: 'https://registry.verra.org/1',
      standard: 'VCS',
      vintage: '2021',
      retiredAt: '2026-01-31',
    }
    t.strictSame((await call('PATCH', path, { retirement })).body.retirement, retirement)
    const { body: unchanged } = await call('PATCH', path, { retirement })
    t.equal(unchanged.version, 2)
    const short = { registry: 'Verra', reference: '1', retiredAt: '2026-01-31T10:00:00+01:00' }
    await call('PATCH', path, { retirement: short })
    t.strictSame((await call('GET', path)).body.retirement, short)
    const { items } = (await call('GET', `${path}/history`)).body
    t.same(items[0].changes, [{ field: 'retirement', from: retirement, to: short }])
    t.equal((await call('PATCH', path, { retirement: null })).body.retirement, null)

    const tomorrow = new Date(Date.now() + 2 * 86_400_000).toISOString()
    for (const [change, invalid] of [
      [{ registry: '' }, 'retirement.registry'],
      [{ reference: 'a\nb' }, 'retirement.reference'],
      [{ url: 'http://registry.verra.org' }, 'retirement.url'],
      [{ url: 'https://ann:pw@registry.verra.org' }, 'retirement.url'],
      [{ url: 'javascript:alert(1)' }, 'retirement.url'],
      [{ retiredAt: tomorrow }, 'retirement.retiredAt'],
      [{ retiredAt: tomorrow.slice(0, 10) }, 'retirement.retiredAt'],
      [{ retiredAt: '2026' }, 'retirement.retiredAt'],
      [{ unknown: 1 }, 'retirement.unknown'],
    ] as const) {
      const { status, body } = await call('PATCH', path, { retirement: { ...short, ...change } })
      t.equal(status, 422, invalid)
      t.same(
        body.errors?.map((error: { path: string }) => error.path),
        [invalid],
      )
    }
  })

  t.test('undoing a cancellation restores the order in one step', async (t) => {
    const { url, call } = await start(t)
    const cookie = cookieHeader(await postLogin(url))
    const restore = async (id: string, version: unknown) => {
      const headers = { cookie, origin: url }
      const body = new URLSearchParams({ version: String(version) })
      const options = { method: 'POST', headers, body, redirect: 'manual' } as const
      return (await fetch(`${url}/admin/orders/${id}/restore`, options)).status
    }
    for (const status of ORDER_STATUSES.filter((one) => one !== 'cancelled')) {
      const first = status === 'refunded' ? 'fulfilled' : status
      const { body: created } = await call('POST', ORDERS, newOrder({ status: first }))
      const path = `${ORDERS}/${created.id}`
      const { body: before } = await call('PATCH', path, { status })
      const { body: cancelled } = await call('DELETE', path)
      t.equal(await restore(created.id, cancelled.version), 303)
      const { body: after } = await call('GET', path)
      const { updatedAt } = after
      t.strictSame(after, { ...before, version: Number(before.version) + 2, updatedAt })
      t.equal(await restore(created.id, cancelled.version), 303, 'repeating it changes nothing')
      t.strictSame((await call('GET', path)).body, after)
    }
    t.equal(await restore('99', 1), 404)
  })

  t.test('rejects an outdated version in any form of If-Match', async (t) => {
    const { call } = await start(t)
    await call('POST', ORDERS, newOrder())
    const path = `${ORDERS}/1`
    const change = (ifMatch: string, notes: string) =>
      call('PATCH', path, { notes }, { 'if-match': ifMatch })
    t.equal((await change('"1"', 'a')).status, 200)
    const stale = await change('"1"', 'b')
    t.equal(stale.status, 412)
    t.equal(stale.headers.get('etag'), '"2"')
    t.equal((await change('"7", W/"1"', 'b')).status, 412)
    t.equal((await change('"7",, W/"2" ,"a,b"', 'b')).status, 200, 'a proxy weakened the tag')
    t.equal((await change('*', 'c')).status, 200)
    t.equal((await call('DELETE', path, undefined, { 'if-match': '"1"' })).status, 412)
    t.match((await call('GET', path)).body, { version: 4, notes: 'c', status: 'pending' })
  })

  t.test('filters, sorts and pages a list, and links to its other pages', async (t) => {
    const { call } = await start(t, { TIME_ZONE: 'Europe/Lisbon' })
    for (let i = 0; i < 30; i++) {
      await call('POST', ORDERS, {
        ...newOrder({ customerName: i % 2 ? 'Ben' : 'Zoë', amountMinor: i % 3 }),
        placedAt: `2026-03-${String(1 + (i % 5)).padStart(2, '0')}T23:30:00Z`,
        status: i % 2 ? 'paid' : 'pending',
      })
    }
    const plain = (await call('GET', ORDERS)).body
    t.match(plain, { page: 1, pageSize: 25, totalItems: 30, totalPages: 2 })
    t.equal(plain.items.length, 25)
    const placed = plain.items.map(({ placedAt, id }: any) => `${placedAt} ${id.padStart(3)}`)
    t.strictSame(placed, [...placed].sort().reverse(), 'newest first, ties by ID')

    const toVisibleText: string[] = []
    let next: string | undefined = `${ORDERS}?sort=amountMinor&pageSize=7&q=EXAMPLE`
    while (next !== undefined) {
      const { body, headers } = await call('GET', next)
      toVisibleText.push(...body.items.map(({ id }: any) => id))
      next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
    }
    t.equal(toVisibleText.length, 30)
    t.equal(new Set(toVisibleText).size, 30, 'each exactly once, though most have equal values')
    const last = await call('GET', `${ORDERS}?page=2`)
    t.notMatch(last.headers.get('link'), /rel="next"/)
    t.match(last.headers.get('link'), /page=1>; rel="prev"/)

    const total = async (query: string) => (await call('GET', `${ORDERS}?${query}`)).body.totalItems
    t.equal(await total('status=paid'), 15)
    t.equal(await total('status=paid&status=pending'), 30)
    t.equal(await total('q=zo%C3%AB&status=paid'), 0)
    t.equal(await total('from=2026-03-02&to=2026-03-02'), 6)
    t.equal(await total('currency=USD'), 0)
    t.equal(await total('calculatorType=fuel'), 0)
    t.match((await call('GET', `${ORDERS}?page=99`)).body, { items: [], page: 99, totalItems: 30 })
  })

  t.test('reports every invalid parameter of a list', async (t) => {
    const { call } = await start(t)
    const paths = async (query: string) => {
      const { status, body } = await call('GET', `${ORDERS}?${query}`)
      t.equal(status, 422, query)
      return body.errors.map(({ path }: { path: string }) => path)
    }
    t.strictSame(
      (await paths('page=0&pageSize=101&sort=name&from=2026-02-30&currency=XYZ&limit=3')).sort(),
      ['currency', 'from', 'limit', 'page', 'pageSize', 'sort'],
    )
    t.strictSame(await paths('from=2026-03-02&to=2026-03-01'), ['to'])
    t.strictSame(await paths('page=1&page=2'), ['page'])
    t.strictSame(await paths('q=a%00bc'), ['q'])
    for (const to of ['9999-12-31', '1899-12-31', '2200-01-01', '10000-01-01']) {
      const { status, body } = await call('GET', `${ORDERS}?to=${to}`)
      t.equal(status, 422)
      t.match(byField(body), { to: /^must be a date from 1900 to 2199, such as/ })
    }
    t.equal((await call('GET', `${ORDERS}?from=1900-01-01&to=2199-12-31`)).status, 200)
    t.equal((await call('GET', `${ORDERS}/1%27%20or%201=1`)).status, 404)
    t.equal((await call('GET', `${ORDERS}/0`)).status, 404)
    t.equal((await call('PATCH', `${ORDERS}/9007199254740991`, { notes: '' })).status, 404)
    t.equal((await call('GET', `${ORDERS}/99999999999999999999`)).status, 404)
    t.equal((await call('GET', `${ORDERS}/1/history`)).status, 404)
    t.equal((await call('PATCH', `${ORDERS}/1`, { notes: '' })).status, 404)
  })

  t.test('returns statistics for the four ranges only', async (t) => {
    const { call } = await start(t, { TIME_ZONE: 'Asia/Kolkata' })
    await call('POST', ORDERS, newOrder({ status: 'fulfilled' }))
    await call('POST', ORDERS, newOrder({ status: 'pending', co2eKg: 0, amountMinor: 100 }))
    for (const range of ['7d', '30d', '90d', 'all']) {
      const { status, body } = await call('POST', '/api/admin/stats', { range })
      t.equal(status, 200)
      t.match(body, {
        range,
        timeZone: 'Asia/Kolkata',
        orders: 2,
        co2eKg: 1603.6,
        revenue: [{ currency: 'EUR', amountMinor: 4109 }],
        paidRevenue: [{ currency: 'EUR', amountMinor: 4009 }],
        outstandingRevenue: [{ currency: 'EUR', amountMinor: 100 }],
        fulfillment: { fulfilled: 1, total: 2, rate: 0.5 },
      })
      if (range === 'all') t.equal(body.previous, null)
      else {
        t.match(body.previous, { orders: 0, fulfillment: { rate: 0 } })
        t.same([body.previous.paidRevenue, body.previous.outstandingRevenue], [[], []])
      }
      t.equal(body.timeline.at(-1).orders, 2)
    }
    t.equal((await call('POST', '/api/admin/stats', { range: '1d' })).status, 422)
    t.equal((await call('POST', '/api/admin/stats', {})).status, 422)
  })

  t.test('exports the listed orders to administrators only', async (t) => {
    const { url, call } = await start(t)
    await call('POST', ORDERS, newOrder({ customerName: 'Zoë' }))
    await call('POST', ORDERS, newOrder({ customerName: 'Ben' }))
    const address = `${url}${ORDERS}/export?q=zo%C3%AB`
    t.equal((await fetch(address)).status, 401)
    const headers = { authorization: `Bearer ${await signIn(url)}` }
    const response = await fetch(address, { headers })
    t.match(response.headers.get('content-disposition'), /^attachment; filename="orders-/)
    const lines = (await response.text()).trim().split('\r\n')
    t.equal(lines.length, 2)
    t.match(lines[1], ',Zoë,')
  })

  t.test(
    'of 20 concurrent edits of a version through two services, one wins and none is lost',
    async (t) => {
      const { first, second, check } = await startPair(t)
      const serviceOf = (writer: number) => (writer % 2 === 0 ? first : second)
      await first.call('POST', ORDERS, newOrder())
      const path = `${ORDERS}/1`
      await waitFor(async () => (await second.call('GET', path)).status === 200)
      for (let round = 1; round <= 5; round++) {
        const responses = await Promise.all(
          Array.from({ length: 20 }, (_, writer) =>
            serviceOf(writer).call(
              'PATCH',
              path,
              { notes: `writer ${writer}, round ${round}` },
              { 'if-match': `"${round}"` },
            ),
          ),
        )
        const statuses = responses.map(({ status }) => status).sort()
        t.strictSame(statuses, [200, ...Array<number>(19).fill(412)])
        const winner = responses.find(({ status }) => status === 200)
        for (const { call } of [first, second]) {
          const read = await waitFor(async () => {
            const { body } = await call('GET', path)
            return body.version === round + 1 && body
          })
          t.strictSame(read, winner?.body, 'both return the successful edit')
        }
      }
      const unconditional = await Promise.all(
        Array.from({ length: 20 }, (_, writer) =>
          serviceOf(writer).call('PATCH', path, { notes: `unconditional ${writer}` }),
        ),
      )
      t.strictSame(
        unconditional.map(({ status }) => status),
        Array<number>(20).fill(200),
      )
      for (const { call } of [first, second]) {
        await waitFor(async () => (await call('GET', path)).body.version === 26)
        const { items } = (await call('GET', `${path}/history`)).body
        t.equal(items.length, 26, 'the history has every change')
        items.forEach(({ changes }: any, index: number) => {
          const before = items[index + 1]?.changes[0]
          if (before) t.equal(changes[0].from, before.to, 'each starts with the previous value')
        })
      }
      check()
    },
  )

  t.test('a retry with the same key through another service creates no second order', async (t) => {
    const { first, second } = await startPair(t)
    const repeats = await Promise.all(
      Array.from({ length: 10 }, (_, i) =>
        (i % 2 === 0 ? first : second).call('POST', ORDERS, newOrder(), {
          'idempotency-key': 'one order',
        }),
      ),
    )
    t.strictSame([...new Set(repeats.map(({ status }) => status))], [201])
    t.equal(new Set(repeats.map(({ body }) => body.id)).size, 1)
    for (const { call } of [first, second]) {
      await waitFor(async () => (await call('GET', ORDERS)).body.totalItems === 1)
    }
  })

  t.test('stores and finds text with special characters', async (t) => {
    const { call } = await start(t)
    for (const text of SPECIAL_TEXTS) {
      const names = { customerName: text, vesselName: text, orderSourceId: text }
      const given = newOrder({ ...names, notes: text })
      const { status, body } = await call('POST', ORDERS, given)
      t.equal(status, 201, text)
      t.match(body, given)
      const changed = await call('PATCH', `${ORDERS}/${body.id}`, { notes: `${text} ${text}` })
      t.equal(changed.body.notes, `${text} ${text}`)
      t.strictSame((await call('GET', `${ORDERS}/${body.id}`)).body, changed.body)
      const found = await call('GET', `${ORDERS}?q=${encodeURIComponent(text)}`)
      t.ok(
        found.body.items.some(({ id }: any) => id === body.id),
        `${text} is found`,
      )
    }
    t.equal((await call('GET', ORDERS)).body.totalItems, SPECIAL_TEXTS.length)
  })

  t.test('returns any order unchanged, also in another process', async (t) => {
    const { first, second } = await startPair(t)
    const ids = new Map<string, unknown>()
    for (const order of randomOrders(30)) {
      const fields = Object.keys(NewOrder.properties) as (keyof NewOrder)[]
      const given: any = {
        ...Object.fromEntries(fields.map((field) => [field, order[field]])),
        status: order.status === 'cancelled' ? 'paid' : order.status,
        currency: order.currency === 'CLF' ? 'EUR' : order.currency, // not accepted by the API
      }
      const created = await first.call('POST', ORDERS, given)
      t.equal(created.status, 201, JSON.stringify(created.body.errors))
      t.match(created.body, { ...given, calculatorData: created.body.calculatorData })
      t.strictSame(created.body.calculatorData, given.calculatorData)
      const changes = { co2eKg: given.co2eKg / 3, notes: `${given.notes}\r\nand more` }
      const changed = await first.call('PATCH', `${ORDERS}/${created.body.id}`, changes)
      t.match(changed.body, { ...given, ...changes, calculatorData: changed.body.calculatorData })
      ids.set(created.body.id, changed.body)
    }
    for (const [id, order] of ids) {
      const read = await waitFor(async () => {
        const { status, body } = await second.call('GET', `${ORDERS}/${id}`)
        return status === 200 && body.version === 2 && body
      })
      t.strictSame(read, order)
      t.strictSame(
        (await second.call('GET', `${ORDERS}/${id}/history`)).body,
        (await first.call('GET', `${ORDERS}/${id}/history`)).body,
      )
    }
  })

  t.test('of concurrent requests, one places the order at the provider', async (t) => {
    const provider = await startFakeProvider({ token: 'provider-token' })
    t.teardown(() => provider.close())
    const environment = {
      ...(await createEnvironment(t)),
      ORDERSOURCE_BASE_URL: provider.url,
      ORDERSOURCE_API_TOKEN: provider.token,
      ORDERSOURCE_TIMEOUT_MS: '2000',
    }
    const services = [
      await startOrderApi(t, environment),
      await startOrderApi(t, environment),
    ] as const
    const [first, second] = services
    await Promise.all(services.map(({ url }) => waitUntilReady(url)))
    const { body: order } = await first.call('POST', ORDERS, newOrder({ status: 'paid' }))
    const read = ({ call }: OrderApi) => call('GET', `${ORDERS}/${order.id}`)
    await waitFor(async () => (await read(second)).status === 200)

    const send = async (
      { url }: OrderApi,
      path: string,
      fields: Record<string, string> = {},
      id: string = order.id,
    ) => {
      const response = await fetch(`${url}/admin/orders/${id}/fulfilment${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { authorization: `Bearer ${await signIn(url)}` },
        body: new URLSearchParams(fields),
      })
      await response.text()
      return response.status
    }
    const confirmed = { portfolio: '2', amountMinor: '6174', currency: 'USD' }
    const placeOrder = (service: OrderApi, version: number) =>
      send(service, '', { ...confirmed, version: String(version) })
    const steps = async (service: OrderApi): Promise<string[]> => {
      const { body } = await service.call('GET', `${ORDERS}/${order.id}/history`)
      return body.items.flatMap(({ changes }: any) =>
        changes.flatMap(({ field, to }: any) => (field === 'placement' ? [to.state] : [])),
      )
    }

    provider.fault = 'connection_reset_after_order'
    const statuses = await Promise.all(
      [first, second, first, second].map((service) => placeOrder(service, 1)),
    )
    provider.fault = null
    t.equal(provider.ledger.orders.length, 1)
    t.equal(statuses.filter((status) => status === 504).length, 1, statuses.join(', '))
    await waitFor(async () => (await steps(first)).length === 2)
    t.strictSame(await steps(first), ['unanswered', 'sent'])
    const findExceptions = async (service: OrderApi, exception: string) =>
      (await service.call('GET', `${ORDERS}?exception=${exception}`)).body.totalItems
    t.equal(await findExceptions(first, 'placement_unknown'), 1)
    t.equal(await findExceptions(first, 'not_placed'), 0)

    // A shortened history keeps the fulfilment attempts.
    for (const text of ['a', 'b', 'c', 'd', 'e']) {
      const changed = await first.call('PATCH', `${ORDERS}/${order.id}`, {
        notes: text.repeat(9_990),
      })
      t.equal(changed.status, 200)
    }
    const version = Number((await read(first)).body.version)
    await waitFor(async () => (await read(second)).body.version === version)
    t.equal((await steps(second))[0], 'unanswered')
    t.equal(await placeOrder(second, version), 409)
    t.equal(provider.ledger.orders.length, 1)

    t.equal(await send(second, '/check'), 303)
    t.match((await read(second)).body, { orderSourceId: '1', version: version + 1 })
    t.equal((await steps(second))[0], 'placed')
    t.equal(await findExceptions(second, 'placement_unknown'), 0)
    t.equal(await findExceptions(second, 'differs'), 0)
    await waitFor(async () => (await read(first)).body.orderSourceId === '1')

    // A list without an order that another process has placed is incomplete.
    const { body: next } = await first.call('POST', ORDERS, newOrder({ status: 'paid' }))
    provider.fault = 'no_response_instead_of_order'
    t.equal(await send(first, '', { ...confirmed, version: '1' }, next.id), 504)
    provider.fault = null
    ;(provider.ledger.orders as unknown[]).splice(0)
    t.equal(await send(first, '/check', {}, next.id), 502)
    check?.(environment)
  })
}
