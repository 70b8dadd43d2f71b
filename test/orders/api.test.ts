import t from 'tap'
import { bookPath } from '../../src/orders/book/order-book.js'
import { movesFrom, ORDER_STATUSES } from '../../src/orders/order-status.js'
import { temporaryFolder } from '../support/app.js'
import { checkBook } from '../support/book-check.js'
import { logIn } from '../support/administrator.js'
import { startOrderApi } from '../support/order-api.js'
import { newOrder } from '../support/order-book.js'

const ORDERS = '/api/admin/orders'

/** What a problem says of each wrong field. */
const byField = ({ errors }: { errors: { path: string; message: string }[] }) =>
  Object.fromEntries(errors.map(({ path, message }) => [path, message]))

t.test('an order is entered with all its fields and read back as it was', async (t) => {
  const { call } = await startOrderApi(t)
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

t.test('what is left out of an order is filled in, and what may be null is', async (t) => {
  const { call } = await startOrderApi(t)
  const before = Date.now()
  const { body } = await call('POST', ORDERS, newOrder({ vesselName: null, calculatorData: null }))
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

t.test(
  'an order that does not do is refused with every fault at once, and is not kept',
  async (t) => {
    const { call } = await startOrderApi(t)
    const faults = async (order: unknown) => {
      const { status, body } = await call('POST', ORDERS, order)
      t.equal(status, 422)
      return byField(body)
    }
    t.match(await faults({}), {
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
      Object.keys(await faults(wrong)).sort(),
      [...Object.keys(wrong), 'calculatorData.fuelType', 'calculatorData.quantity']
        .filter((path) => !['calculatorType', 'calculatorData'].includes(path))
        .sort(),
    )
    for (const customerEmail of [
      'a@b@c',
      'a b@c',
      '@c',
      'a@',
      'a..b@c',
      '<a@b>',
      'a@b.',
      'ä\n@b',
    ]) {
      t.match(
        await faults(newOrder({ customerEmail })),
        { customerEmail: /e-mail address/ },
        customerEmail,
      )
    }
    const tomorrow = new Date(Date.now() + 25 * 60 * 60 * 1000).toISOString()
    t.match(await faults(newOrder({ placedAt: tomorrow })), { placedAt: /future/ })
    t.match(await faults(newOrder({ placedAt: '2026-02-30T00:00:00Z' })), { placedAt: /moment/ })
    for (const placedAt of [
      '0000-01-01T00:00:00Z',
      '1899-12-31T23:59:59Z',
      '1900-01-01T00:00:00+14:00',
      '2199-12-31T23:59:59-14:00',
      '2200-01-01T00:00:00Z',
      '+012026-01-01T00:00:00Z',
    ]) {
      t.match(await faults(newOrder({ placedAt })), { placedAt: /1900 to 2199, in UTC too/ })
    }
    t.match(await faults(newOrder({ calculatorData: {} })), { calculatorType: /too/ })
    t.match(await faults(newOrder({ co2eKg: 1e10 })), { co2eKg: /at most 1000000000$/ })
    t.equal((await call('GET', ORDERS)).body.totalItems, 0)
  },
)

t.test('the first and the last moments that an order may have are kept as they are', async (t) => {
  const { call } = await startOrderApi(t)
  const entered = await call('POST', ORDERS, newOrder({ placedAt: '1900-01-01T14:00:00+14:00' }))
  t.equal(entered.status, 201)
  t.equal(entered.body.placedAt, '1900-01-01T00:00:00.000Z')
  const late = await call('POST', ORDERS, newOrder({ placedAt: '2199-12-31T23:59:59Z' }))
  t.match(byField(late.body), { placedAt: 'must not be in the future' })
})

t.test('a repeat with the same Idempotency-Key enters nothing twice', async (t) => {
  const { call } = await startOrderApi(t)
  const repeats = await Promise.all(
    Array.from({ length: 10 }, () => call('POST', ORDERS, newOrder(), { 'idempotency-key': 'k1' })),
  )
  t.strictSame([...new Set(repeats.map(({ status, body }) => `${status} ${body.id}`))], ['201 1'])
  t.equal((await call('GET', ORDERS)).body.totalItems, 1)
  const other = await call('POST', ORDERS, newOrder({ co2eKg: 1 }), { 'idempotency-key': 'k1' })
  t.equal(other.status, 422)
  t.match(other.body.errors, [{ path: 'Idempotency-Key' }])
  t.match(await call('POST', ORDERS, newOrder(), { 'idempotency-key': 'k2' }), {
    body: { id: '2' },
  })
  t.match(
    await call('POST', ORDERS, newOrder()),
    { body: { id: '3' } },
    'without a key, as often as asked',
  )
})

t.test('a change keeps what it does not name, and what changed is history', async (t) => {
  const { call } = await startOrderApi(t)
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
  }
  t.strictSame(changed.body, { ...created, ...expected, version: 2, updatedAt })
  t.ok(updatedAt >= created.updatedAt)

  const same = await call('PATCH', path, { notes: 'by bank transfer', imoNumber: '9811000' })
  t.equal(same.body.version, 2, 'the same again is no change')
  t.equal((await call('PATCH', path, {})).body.version, 2)

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

t.test('minus nothing is nothing, and no change of nothing', async (t) => {
  const { url } = await startOrderApi(t)
  const authorization = `Bearer ${await logIn(url)}`
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

t.test('a status moves along the table only; a refusal says where to', async (t) => {
  const { call } = await startOrderApi(t)
  for (const from of ORDER_STATUSES) {
    for (const to of ORDER_STATUSES.filter((status) => status !== 'cancelled')) {
      const status = from === 'cancelled' ? 'pending' : from
      const { body: order } = await call('POST', ORDERS, newOrder({ status }))
      if (from === 'cancelled') await call('DELETE', `${ORDERS}/${order.id}`)
      const moved = await call('PATCH', `${ORDERS}/${order.id}`, { status: to, notes: 'moved' })
      const open = movesFrom(from).includes(to) || from === to
      t.equal(moved.status, open ? 200 : 409, `${from} to ${to}`)
      if (!open) {
        t.strictSame(moved.body.possibleStatuses, movesFrom(from))
        const { body } = await call('GET', `${ORDERS}/${order.id}`)
        t.match(body, { status: from, notes: '' }, 'all or nothing')
      }
    }
  }
  const cancelled = await call('PATCH', `${ORDERS}/1`, { status: 'cancelled' })
  t.equal(cancelled.status, 422, 'cancelling is an act of its own')
})

t.test(
  'cancelling keeps the record, again changes nothing, and a cancelled order begins anew',
  async (t) => {
    const { call } = await startOrderApi(t)
    const { body: created } = await call('POST', ORDERS, newOrder({ status: 'fulfilled' }))
    t.ok(created.fulfilledAt)
    const path = `${ORDERS}/${created.id}`
    const { status, body } = await call('DELETE', path)
    t.equal(status, 200)
    t.match(body, { status: 'cancelled', version: 2, fulfilledAt: created.fulfilledAt })
    t.equal(body.cancelledAt, body.updatedAt)
    t.strictSame((await call('DELETE', path)).body, body)
    const again = await call('PATCH', path, { status: 'pending' })
    t.match(again.body, { status: 'pending', version: 3, fulfilledAt: null, cancelledAt: null })
    const { items } = (await call('GET', `${path}/history`)).body
    t.strictSame(
      items.map(({ changes }: { changes: unknown }) => changes),
      [
        [
          { field: 'status', from: 'cancelled', to: 'pending' },
          { field: 'fulfilledAt', from: created.fulfilledAt, to: null },
          { field: 'cancelledAt', from: body.cancelledAt, to: null },
        ],
        [{ field: 'status', from: 'fulfilled', to: 'cancelled' }],
        [],
      ],
      'what is erased stays in the history',
    )
    t.equal((await call('DELETE', `${ORDERS}/99`)).status, 404)
  },
)

t.test('a stale version is refused, whatever way the header names it', async (t) => {
  const { call } = await startOrderApi(t)
  await call('POST', ORDERS, newOrder())
  const path = `${ORDERS}/1`
  const change = (ifMatch: string, notes: string) =>
    call('PATCH', path, { notes }, { 'if-match': ifMatch })
  t.equal((await change('"1"', 'a')).status, 200)
  const stale = await change('"1"', 'b')
  t.equal(stale.status, 412)
  t.equal(stale.headers.get('etag'), '"2"')
  t.equal((await change('"7", W/"2"', 'b')).status, 412, 'a weak tag never matches')
  t.equal((await change('"7",, W/"1" ,"a,b", "2"', 'b')).status, 200)
  t.equal((await change('*', 'c')).status, 200)
  t.equal((await call('DELETE', path, undefined, { 'if-match': '"1"' })).status, 412)
  t.match((await call('GET', path)).body, { version: 4, notes: 'c', status: 'pending' })
})

t.test('an If-Match that is no ETag of an order is malformed, not stale', async (t) => {
  const { call } = await startOrderApi(t)
  await call('POST', ORDERS, newOrder())
  const refusal = async (ifMatch: string) => {
    const headers = { 'if-match': ifMatch }
    const { status, body } = await call('PATCH', `${ORDERS}/1`, { notes: 'x' }, headers)
    t.equal(status, 400, ifMatch)
    return body.detail as string
  }
  for (const wrong of [
    '1',
    'nonsense',
    '',
    ' ',
    ',',
    '"01"',
    '"0"',
    '"1',
    '1"',
    '"1" "2"',
    '"1", nonsense',
    '*, "1"',
    'w/"1"',
    '"nonsense"',
  ]) {
    t.match(await refusal(wrong), /in its quotes, such as "4"/, wrong)
  }
  t.match(await refusal('W/"1"'), /never matches a weak ETag/)
  const deleted = await call('DELETE', `${ORDERS}/1`, undefined, { 'if-match': '1' })
  t.equal(deleted.status, 400)
  t.match((await call('GET', `${ORDERS}/1`)).body, { version: 1, notes: '' })
})

t.test(
  'of 20 writers with the same version, through two services, one wins and nothing is lost',
  async (t) => {
    const DATA_DIR = temporaryFolder(t)
    const first = await startOrderApi(t, { DATA_DIR })
    const second = await startOrderApi(t, { DATA_DIR })
    const services = [first, second]
    const serviceOf = (writer: number) => (writer % 2 === 0 ? first : second)
    await first.call('POST', ORDERS, newOrder())
    for (let round = 1; round <= 5; round++) {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, writer) =>
          serviceOf(writer).call(
            'PATCH',
            `${ORDERS}/1`,
            { notes: `writer ${writer}, round ${round}` },
            { 'if-match': `"${round}"` },
          ),
        ),
      )
      const statuses = answers.map(({ status }) => status).sort()
      t.strictSame(statuses, [200, ...Array<number>(19).fill(412)])
      const winner = answers.find(({ status }) => status === 200)
      for (const { call } of services) {
        t.strictSame(
          (await call('GET', `${ORDERS}/1`)).body,
          winner?.body,
          'both see what the winner wrote',
        )
      }
    }
    const unconditional = await Promise.all(
      Array.from({ length: 20 }, (_, writer) =>
        serviceOf(writer).call('PATCH', `${ORDERS}/1`, { notes: `in a row ${writer}` }),
      ),
    )
    t.ok(unconditional.every(({ status }) => status === 200))
    const { items } = (await first.call('GET', `${ORDERS}/1/history`)).body
    t.equal(items.length, 26, 'every change is in the history')
    items.forEach(({ changes }: any, index: number) => {
      const before = items[index + 1]?.changes[0]
      if (before) t.equal(changes[0].from, before.to, 'each begins where the last one ended')
    })
    checkBook(bookPath(DATA_DIR))
  },
)

t.test('a list is filtered, sorted and paged, and links to its other pages', async (t) => {
  const { call } = await startOrderApi(t, { TIME_ZONE: 'Europe/Lisbon' })
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
  t.strictSame(placed, [...placed].sort().reverse(), 'newest first, ties by id')

  const seen: string[] = []
  let next: string | undefined = `${ORDERS}?sort=amountMinor&pageSize=7&q=EXAMPLE`
  while (next !== undefined) {
    const { body, headers } = await call('GET', next)
    seen.push(...body.items.map(({ id }: any) => id))
    next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  }
  t.equal(seen.length, 30)
  t.equal(new Set(seen).size, 30, 'each exactly once though most tie')
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

t.test('a list that is asked for wrongly says what is wrong with each parameter', async (t) => {
  const { call } = await startOrderApi(t)
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
  t.equal((await call('GET', `${ORDERS}/99999999999999999999`)).status, 404)
  t.equal((await call('GET', `${ORDERS}/1/history`)).status, 404)
  t.equal((await call('PATCH', `${ORDERS}/1`, { notes: '' })).status, 404)
})

t.test('a parameter given too often is named, and a wrong one of several is too', async (t) => {
  const { call } = await startOrderApi(t)
  const ONE_STATUS = `must be one of ${ORDER_STATUSES.join(', ')}`
  const asked: [query: string, errors: Record<string, string>][] = [
    ['page=1&page=2', { page: 'was given twice: give it once' }],
    ['sort=status&sort=status&sort=x', { sort: 'was given 3 times: give it once' }],
    ['q=a&q=%00', { q: 'was given twice: give it once' }],
    ['from=2026-01-01&from=x', { from: 'was given twice: give it once' }],
    ['currency=EUR&currency=USD', { currency: 'was given twice: give it once' }],
    ['status=lost', { status: ONE_STATUS }],
    ['status=', { status: ONE_STATUS }],
    ['status=paid&status=lost&status=gone', { status: ONE_STATUS }],
    ['calculatorType=x', { calculatorType: 'must be one of fuel, distance, custom' }],
    ['limit=1&limit=2', { limit: 'is not a known field' }],
    ['page=x', { page: 'must be a whole number' }],
  ]
  for (const [query, errors] of asked) {
    const { status, body } = await call('GET', `${ORDERS}?${query}`)
    t.equal(status, 422, query)
    t.strictSame(byField(body), errors)
    const [[field, message] = []] = Object.entries(errors)
    t.equal(body.detail, `${field} ${message}.`)
  }
})

t.test('a filter takes as many values as there are, however often one is repeated', async (t) => {
  const { call } = await startOrderApi(t)
  const six = 'status=paid&'.repeat(6)
  const { status, headers } = await call('GET', `${ORDERS}?${six}`)
  t.equal(status, 200)
  t.ok((headers.get('link') ?? '').length < 500)
  for (const path of [ORDERS, `${ORDERS}/export`]) {
    const refused = await call(
      'GET',
      `${path}?${six}status=paid&${'calculatorType=fuel&'.repeat(4)}`,
    )
    t.equal(refused.status, 422)
    t.strictSame(byField(refused.body), {
      status: 'was given 7 times: give it at most 6 times',
      calculatorType: 'was given 4 times: give it at most 3 times',
    })
  }
})

t.test('a value of another type is told in words what it must be', async (t) => {
  const { call } = await startOrderApi(t)
  const refusal = async (path: string, body: unknown) => {
    const { status, body: problem } = await call(
      path === `${ORDERS}/1` ? 'PATCH' : 'POST',
      path,
      body,
    )
    t.equal(status, 422)
    return byField(problem)
  }
  const five = {
    status: 'must be one of pending, paid, processing, fulfilled, refunded',
    customerName: 'must be text',
    customerEmail: 'must be text',
    vesselName: 'must be text or null',
    imoNumber: 'must be text or null',
    calculatorType: 'must be one of fuel, distance, custom, or null',
    calculatorData: 'must be an object or null',
    currency: 'must be text',
    orderSourceId: 'must be text or null',
    notes: 'must be text',
    placedAt: 'must be text',
  }
  const allFive = Object.fromEntries(Object.keys(five).map((field) => [field, 5]))
  const numbers = { co2eKg: 'must be a number', amountMinor: 'must be a whole number' }
  t.strictSame(await refusal(ORDERS, { ...allFive, co2eKg: '5', amountMinor: [5, 6] }), {
    ...five,
    ...numbers,
  })
  const fixed = 'is not a known field'
  t.strictSame(await refusal(`${ORDERS}/1`, allFive), {
    ...five,
    calculatorType: fixed,
    calculatorData: fixed,
    placedAt: fixed,
  })
  t.strictSame(await refusal('/api/admin/stats', { range: 7 }), {
    range: 'must be one of 7d, 30d, 90d, all',
  })
  t.strictSame(await refusal('/api/admin/login', { email: null, password: 5 }), {
    email: 'must be text',
    password: 'must be text',
  })
  t.strictSame(
    await refusal(ORDERS, { ...newOrder(), calculatorType: 'fuel', calculatorData: 'x' }),
    { calculatorData: 'must be an object or null' },
  )
})

t.test('statistics are told of all four ranges, and of no other', async (t) => {
  const { call } = await startOrderApi(t, { TIME_ZONE: 'Asia/Kolkata' })
  await call('POST', ORDERS, newOrder({ status: 'fulfilled' }))
  for (const range of ['7d', '30d', '90d', 'all']) {
    const { status, body } = await call('POST', '/api/admin/stats', { range })
    t.equal(status, 200)
    t.match(body, {
      range,
      timeZone: 'Asia/Kolkata',
      orders: 1,
      co2eKg: 1603.6,
      revenue: [{ currency: 'EUR', amountMinor: 4009 }],
      fulfillment: { fulfilled: 1, total: 1, rate: 1 },
    })
    if (range === 'all') t.equal(body.previous, null)
    else t.match(body.previous, { orders: 0, fulfillment: { rate: 0 } })
    t.equal(body.timeline.at(-1).orders, 1)
  }
  t.equal((await call('POST', '/api/admin/stats', { range: '1d' })).status, 422)
  t.equal((await call('POST', '/api/admin/stats', {})).status, 422)
})

t.test('while the book cannot be written to, a change is 503 and reading goes on', async (t) => {
  const DATA_DIR = temporaryFolder(t)
  const { call, log } = await startOrderApi(t, { DATA_DIR })
  await call('POST', ORDERS, newOrder())
  const { default: Database } = await import('better-sqlite3')
  const other = new Database(bookPath(DATA_DIR))
  other.exec('BEGIN IMMEDIATE')
  const refused = await call('PATCH', `${ORDERS}/1`, { notes: 'x' })
  t.equal(refused.status, 503)
  t.ok(Number(refused.headers.get('retry-after')) > 0)
  t.strictSame(
    log
      .filter(({ level }) => Number(level) > 30)
      .map(({ level, detail, err }) => [level, detail, err]),
    [[40, refused.body.detail, undefined]],
    'the log has it in one line',
  )
  t.equal((await call('GET', `${ORDERS}/1`)).body.notes, '')
  other.close()
  t.equal((await call('PATCH', `${ORDERS}/1`, { notes: 'x' })).status, 200)
})

t.test(
  'a service whose TIME_ZONE is no longer the book’s serves no orders until it is',
  async (t) => {
    const DATA_DIR = temporaryFolder(t)
    const { call } = await startOrderApi(t, { DATA_DIR, TIME_ZONE: 'Asia/Tokyo' })
    await call('POST', ORDERS, newOrder({ placedAt: '2026-03-01T20:00:00Z' }))
    const day = `${ORDERS}?from=2026-03-02&to=2026-03-02`
    const asked: [method: string, path: string, body?: unknown][] = [
      ['GET', day],
      ['GET', `${ORDERS}?q=ann`],
      ['GET', `${ORDERS}/1`],
      ['GET', `${ORDERS}/1/history`],
      ['GET', `${ORDERS}/export?from=2026-03-02`],
      ['POST', '/api/admin/stats', { range: 'all' }],
      ['POST', ORDERS, newOrder()],
      ['PATCH', `${ORDERS}/1`, { notes: 'x' }],
      ['DELETE', `${ORDERS}/1`],
    ]
    const other = await startOrderApi(t, { DATA_DIR, TIME_ZONE: 'Europe/Lisbon' })
    const reason =
      'The order book goes by the days of Europe/Lisbon now, and this process by those of Asia/Tokyo: give all processes the same TIME_ZONE.'
    for (const [method, path, body] of asked) {
      const answer = await call(method, path, body)
      t.match(answer, { status: 503, body: { status: 503, detail: reason } }, `${method} ${path}`)
      t.equal(answer.headers.get('content-type'), 'application/problem+json')
    }
    t.match(await call('GET', '/readyz'), {
      status: 503,
      body: { status: 'not ready', checks: { orders: { ready: false, detail: reason } } },
    })
    t.match(await other.call('GET', day), { status: 200, body: { totalItems: 0 } })
    t.equal((await other.call('GET', '/readyz')).status, 200)

    await startOrderApi(t, { DATA_DIR, TIME_ZONE: 'Asia/Tokyo' })
    t.match(
      await call('GET', day),
      { status: 200, body: { totalItems: 1 } },
      'it comes back by itself',
    )
    t.equal((await call('PATCH', `${ORDERS}/1`, { notes: 'x' })).status, 200)
    t.equal((await call('GET', '/readyz')).status, 200)
    t.equal((await other.call('GET', day)).status, 503, 'and the other one waits in its turn')
    checkBook(bookPath(DATA_DIR))
  },
)

t.test('what is listed is exported, to administrators alone', async (t) => {
  const { url, call } = await startOrderApi(t)
  await call('POST', ORDERS, newOrder({ customerName: 'Zoë' }))
  await call('POST', ORDERS, newOrder({ customerName: 'Ben' }))
  const address = `${url}${ORDERS}/export?q=zo%C3%AB`
  t.equal((await fetch(address)).status, 401)
  const headers = { authorization: `Bearer ${await logIn(url)}` }
  const answer = await fetch(address, { headers })
  t.match(answer.headers.get('content-disposition'), /^attachment; filename="orders-/)
  const lines = (await answer.text()).trim().split('\r\n')
  t.equal(lines.length, 2)
  t.match(lines[1], ',Zoë,')
})

t.test('readiness tells of the order book', async (t) => {
  const { call } = await startOrderApi(t)
  t.match((await call('GET', '/readyz')).body, { checks: { orders: { ready: true } } })
})
