import fc from 'fast-check'
import t from 'tap'
import {
  DEFAULT_TITLES,
  encodeCell,
  ORDER_FIELDS,
  type OrderField,
  type Row,
} from '../../src/nocodb/columns.js'
import { parseRecord, serializeRecord, toRecordedOrder } from '../../src/nocodb/order-record.js'
import { parseRow } from '../../src/nocodb/parse-row.js'
import { findSchemaMismatches } from '../../src/nocodb/table-schema.js'
import type { Order } from '../../src/orders/order.js'
import { order, randomOrders } from '../support/orders.js'

/** The row of an order, as NocoDB returns it. */
function toRow(order: ReturnType<typeof randomOrders>[number]): Row {
  const cells = ORDER_FIELDS.map((field) => {
    const cell = encodeCell(field, order[field])
    const isTimestamp = typeof cell === 'string' && /^\d{4}-\d\d-\d\dT.*Z$/.test(cell)
    const returned = isTimestamp ? `${cell.slice(0, 19).replace('T', ' ')}+00:00` : cell
    return [DEFAULT_TITLES[field], field.endsWith('At') ? returned : cell]
  })
  return {
    ...Object.fromEntries(cells),
    Id: Number(order.id),
    CreatedAt: '2026-11-20 09:30:00+00:00',
    UpdatedAt: '2026-11-20 09:31:00+00:00',
    Version: order.version,
    WriteToken: 'token',
    Record: serializeRecord({
      order: toRecordedOrder(order),
      by: 'ann',
      request: null,
      history: [],
    }),
  }
}

t.test('reads every order from its row unchanged', async (t) => {
  fc.assert(
    fc.property(order(7), (written) => {
      const result = parseRow(toRow(written), DEFAULT_TITLES)
      if (!result.ok) throw new Error(JSON.stringify(result.errors))
      t.strictSame(result.parsed.order, written)
      t.notOk(result.parsed.isEdited)
    }),
    { numRuns: 200 },
  )
})

t.test('detects an edit of one cell as the only change', async (t) => {
  const edits: Partial<Record<OrderField, [cell: unknown, value: unknown]>> = {
    status: ['Refunded', 'refunded'],
    customerName: ['Another name', 'Another name'],
    customerEmail: ['else@example.com', 'else@example.com'],
    vesselName: ['', null],
    imoNumber: ['IMO 9241061', '9241061'],
    co2eKg: ['123.5', 123.5],
    amountMinor: ['77', 77],
    currency: ['nok', 'NOK'],
    notes: ['new\nnotes', 'new\nnotes'],
    placedAt: ['2026-01-02 03:04:05+00:00', '2026-01-02T03:04:05.000Z'],
  }
  for (const [field, [cell, value]] of Object.entries(edits)) {
    const [written] = randomOrders(1, 5).map((one) => ({
      ...one,
      status: 'paid' as const,
      vesselName: 'Aurora',
      imoNumber: '9811000',
      notes: 'old',
      cancelledAt: null,
      currency: 'EUR',
    }))
    if (written === undefined) return
    const row = { ...toRow(written), [DEFAULT_TITLES[field as OrderField]]: cell }
    const result = parseRow(row, DEFAULT_TITLES)
    t.ok(result.ok, field)
    if (!result.ok) continue
    const { order: now, history, isEdited } = result.parsed
    t.match(now, { [field]: value, version: written.version + 1 })
    t.ok(isEdited)
    t.strictSame(history, [
      {
        at: '2026-11-20T09:31:00.000Z',
        by: 'NocoDB',
        version: written.version + 1,
        changes: [{ field, from: written[field as OrderField], to: value }],
      },
    ])
  }
})

t.test('a status edited in NocoDB obeys the same rule as any other change', async (t) => {
  const at = '2026-11-20T09:00:00.000Z'
  const [first] = randomOrders(1, 5)
  if (first === undefined) return
  const paid = {
    ...first,
    status: 'paid' as const,
    cancelledFrom: null,
    paidAt: at,
    fulfilledAt: null,
    cancelledAt: null,
  }
  const edit = (order: typeof first, status: string) => {
    const result = parseRow({ ...toRow(order), Status: status }, DEFAULT_TITLES)
    if (!result.ok) throw new Error(JSON.stringify(result.errors))
    return result.parsed
  }
  const cancelled = edit(paid, 'cancelled').order
  t.match(cancelled, { status: 'cancelled', cancelledFrom: 'paid', paidAt: at })
  t.equal(cancelled.cancelledAt, cancelled.updatedAt)
  const before = { ...paid, ...cancelled, orderNumber: paid.orderNumber }
  t.match(edit(before, 'paid').order, { status: 'paid', cancelledFrom: null, paidAt: at })
  t.match(edit(before, 'refunded').order, { status: 'refunded', cancelledAt: null, paidAt: at })

  const rejected = edit(before, 'pending')
  t.match(rejected, { isEdited: false, order: { status: 'cancelled', version: before.version } })
  t.same(rejected.errors, [{ column: 'Status', error: 'cannot change from cancelled to pending' }])
  const refunded = { ...paid, status: 'refunded' as const }
  t.match(edit(refunded, 'paid').order, { status: 'refunded' })
})

t.test('a row of an earlier version gets what its order remembers from its history', async (t) => {
  const [first] = randomOrders(1, 5)
  if (first === undefined) return
  const at = '2026-11-20T09:00:00.000Z'
  const order = { ...first, status: 'cancelled' as const, cancelledAt: at, fulfilledAt: null }
  const recorded: Partial<Order> = { ...toRecordedOrder(order) }
  delete recorded.cancelledFrom
  delete recorded.paidAt
  delete recorded.retirement
  const history = [
    { at, by: 'ann', version: 2, changes: [{ field: 'status', from: 'pending', to: 'paid' }] },
    { at, by: 'ann', version: 3, changes: [{ field: 'status', from: 'paid', to: 'cancelled' }] },
  ]
  const Record = JSON.stringify({ order: recorded, by: 'ann', request: null, history })
  const result = parseRow({ ...toRow(order), Record }, DEFAULT_TITLES)
  t.match(result, {
    parsed: {
      isEdited: false,
      errors: [],
      order: { cancelledFrom: 'paid', paidAt: at, retirement: null },
    },
  })
})

t.test('never throws for a row with arbitrary cells', async (t) => {
  // String() and Number() throw for this value.
  const notText = { toString: 0 }
  const notTimestamp = { order: { createdAt: notText, updatedAt: notText }, by: 'ann', history: [] }
  const row = fc.dictionary(
    fc.constantFrom(...Object.values(DEFAULT_TITLES), 'CreatedAt', 'UpdatedAt'),
    fc.oneof(
      fc.jsonValue(),
      fc.string(),
      fc.constantFrom('9'.repeat(400), '\ud800', '2026-13-01', notText, notTimestamp),
    ),
  )
  let valid = 0
  fc.assert(
    fc.property(row, fc.option(order(3)), (cells, written) => {
      const whole = { ...(written === null ? {} : toRow(written)), ...cells, Id: 3 }
      if (parseRow(whole, DEFAULT_TITLES).ok) valid++
    }),
    { numRuns: 2_000 },
  )
  t.ok(valid > 0)
})

t.test('truncates the history in a row but keeps the newest entry', async (t) => {
  const [one] = randomOrders(1)
  if (one === undefined) return
  const entry = (version: number, size: number) => ({
    at: '2026-11-20T09:30:00.000Z',
    by: 'ann',
    version,
    changes: [{ field: 'notes', from: '', to: 'é'.repeat(size) }],
    token: 'x',
  })
  const store = (entries: number, size: number) => {
    const history = Array.from({ length: entries }, (_, i) => entry(i + 2, size))
    const cell = serializeRecord({ order: toRecordedOrder(one), by: 'ann', request: null, history })
    return { cell, history: parseRecord(cell)?.history ?? [] }
  }
  t.equal(store(100, 10).history.length, 100)
  const many = store(2_000, 10)
  t.ok(many.history.length < 500 && many.cell.length < 64 * 1024)
  t.equal(many.history.at(-1)?.version, 2_001)
  t.equal(store(3, 50_000).history.length, 1)
  // A long history forgot a cancellation, so that the order could be bought.
  const cancelled = {
    ...entry(2, 0),
    changes: [{ field: 'status', from: 'paid', to: 'cancelled' }],
  }
  const cell = serializeRecord({
    order: toRecordedOrder(one),
    by: 'ann',
    request: null,
    history: [cancelled, entry(3, 50_000), entry(4, 50_000)],
  })
  t.same(
    parseRecord(cell)?.history.map(({ version }) => version),
    [2, 4],
  )
  for (const wrong of ['', '{', '[]', 'null', '{"order":{},"by":"x","history":[]}', 7, null]) {
    t.equal(parseRecord(wrong), null)
  }
})

t.test('reports each invalid column', async (t) => {
  const column = (title: string, type: string, choices: string[] = []) => ({
    ...{ id: title, title, type, choices, rawChoices: [] },
  })
  const found = findSchemaMismatches(
    [column('CustomerName', 'Number'), column('Status', 'SingleSelect', ['paid', 'pending'])],
    DEFAULT_TITLES,
  )
  const reasons = new Map(found.map(({ title, reason }) => [title, reason]))
  t.equal(reasons.size, 20)
  t.match(reasons.get('CustomerName'), /is of type Number; it must be SingleLineText/)
  t.equal(
    reasons.get('Status'),
    'is missing the options processing, fulfilled, refunded, cancelled',
  )
  t.equal(reasons.get('Version'), 'is missing')
})
