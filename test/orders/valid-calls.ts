import { TYPICAL_CALCULATIONS } from '../support/calculations.js'
import { newOrder } from '../support/order-store.js'
import type { ValidCalls } from '../support/valid-calls.js'

/** Every filter of the order list. */
export const LIST = {
  q: 'ann',
  status: ['pending', 'paid'],
  calculatorType: 'fuel',
  origin: ['guest', 'api'],
  paymentMethod: 'stripe',
  payment: ['paid', 'problem'],
  currency: 'EUR',
  from: '2020-01-01',
  to: '2030-12-31',
  sort: '-customerName',
}
const FULL_ORDER = {
  ...newOrder(),
  ...TYPICAL_CALCULATIONS.fuel,
  status: 'paid',
  placedAt: '2026-01-02T03:04:05Z',
  vesselName: 'Ever Given',
  imoNumber: '9811000',
  orderSourceId: 'of_1',
  notes: 'Called back',
}
/** An event that was set aside, if a test sets it aside. */
export const EVENT_ID = 'event_1'

const calls = (): ValidCalls => ({
  'GET /api/admin/orders': [{ query: { ...LIST, page: '1', pageSize: '10' } }, {}],
  'POST /api/admin/orders': [
    { json: FULL_ORDER },
    {
      json: { ...FULL_ORDER, ...TYPICAL_CALCULATIONS.distance },
      headers: { 'idempotency-key': 'order-4711' },
    },
    { json: newOrder() },
  ],
  'GET /api/admin/orders/:id': [{ path: '/api/admin/orders/{order}' }],
  'PATCH /api/admin/orders/:id': [
    {
      path: '/api/admin/orders/{order}',
      json: { customerName: 'Ann', vesselName: null, notes: 'Called back', amountMinor: 5 },
    },
    { path: '/api/admin/orders/{order}', json: { notes: 'x' }, headers: { 'if-match': '*' } },
  ],
  'DELETE /api/admin/orders/:id': [
    { path: '/api/admin/orders/{order}', headers: { 'if-match': '"1"' } },
    { path: '/api/admin/orders/{order}' },
  ],
  'POST /api/admin/orders/:id/recalculate': [
    { path: '/api/admin/orders/{order}/recalculate' },
    { path: '/api/admin/orders/{order}/recalculate', headers: { 'if-match': '"1"' } },
  ],
  'GET /api/admin/orders/:id/history': [{ path: '/api/admin/orders/{order}/history' }],
  'POST /api/admin/stats': [{ json: { range: '30d' } }, { json: { range: 'all' } }],
  'GET /admin/orders': [
    { query: { ...LIST, page: '1', pageSize: '25' } },
    {
      query: { q: 'ann' },
      headers: {
        'hx-request': 'true',
        'hx-request-type': 'partial',
        'hx-target': 'div#list',
        'hx-current-url': 'http://127.0.0.1/admin/orders?q=an',
      },
    },
  ],
  'POST /admin/orders/views': [{ form: { name: 'To fulfil', list: '/admin/orders?status=paid' } }],
  'POST /admin/orders/views/remove': [{ form: { name: 'To fulfil', list: '/admin/orders' } }],
  'GET /admin/orders/bulk': [{}],
  'POST /admin/orders/bulk': [
    { form: { order: ['{order}:1', '7:1'], action: 'paid', list: 'status=paid&q=ann' } },
    { form: { order: '{order}:1', action: 'cancel', list: '' } },
  ],
  'GET /admin/orders/bulk/cancellation': [{}],
  'POST /admin/orders/bulk/cancellation': [
    { form: { order: ['{order}:1', '7:1'], list: 'q=ann' } },
  ],
  'GET /admin/orders/:id': [
    {
      path: '/admin/orders/{order}',
      query: { ...LIST, at: '2' },
      headers: { cookie: 'clearwake-flash=saved.{order}' },
    },
  ],
  'GET /admin/orders/:id/edit': [
    { path: '/admin/orders/{order}/edit', query: { group: 'amounts' } },
  ],
  'POST /admin/orders/:id/edit': [
    {
      path: '/admin/orders/{order}/edit',
      query: { group: 'amounts', at: '2' },
      form: { version: '1', co2eKg: '12.5', amount: '10', currency: 'EUR' },
    },
    {
      path: '/admin/orders/{order}/edit',
      query: { group: 'customer' },
      form: { version: '1', customerName: 'Ben', customerEmail: 'ben@example.com' },
      headers: { 'hx-request': 'true', 'hx-request-type': 'partial' },
    },
  ],
  'POST /admin/orders/:id/status': [
    {
      path: '/admin/orders/{order}/status',
      query: { at: '2' },
      form: { version: '1', status: 'paid' },
    },
  ],
  'GET /admin/orders/:id/cancel': [{ path: '/admin/orders/{order}/cancel', query: { at: '2' } }],
  'POST /admin/orders/:id/cancel': [
    { path: '/admin/orders/{order}/cancel', query: { at: '2' }, form: { version: '1' } },
  ],
  'POST /admin/orders/:id/recalculate': [
    { path: '/admin/orders/{order}/recalculate', query: { at: '2' }, form: { version: '1' } },
  ],
  'POST /admin/orders/:id/restore': [
    { path: '/admin/orders/{order}/restore', form: { version: '1' } },
  ],
  // Of a customer whom no other call needs.
  'POST /api/admin/erasures': [{ json: { email: 'nobody@example.com' } }],
  'GET /admin/settings/personal-data': [{}],
  'POST /admin/settings/personal-data': [{ form: { email: 'ann@example.com' } }],
  'POST /admin/settings/personal-data/erase': [{ form: { email: 'nobody@example.com' } }],
  'GET /admin/settings/events': [{}],
  'POST /admin/settings/events/:id/retry': [
    { path: `/admin/settings/events/${EVENT_ID}/retry`, form: {} },
  ],
})

export default calls
