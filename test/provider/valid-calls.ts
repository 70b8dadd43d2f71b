import type { CallContext, ValidCalls } from '../support/valid-calls.js'

const calls = ({ offsetOrder }: CallContext): ValidCalls => ({
  'GET /api/ordersource/portfolios': [{}],
  'GET /api/ordersource/offset-orders': [{}],
  'POST /api/ordersource/offset-orders': [
    { json: { tons: 1.6, portfolioId: 2, note: 'CW-000123', dryRun: true } },
  ],
  'GET /api/ordersource/offset-orders/:id': [
    { path: `/api/ordersource/offset-orders/${offsetOrder}` },
  ],
  'GET /admin/orders/:id/fulfilment': [
    { path: '/admin/orders/{order}/fulfilment', query: { at: '2', portfolio: '2' } },
  ],
  'POST /admin/orders/:id/fulfilment': [
    {
      path: '/admin/orders/{order}/fulfilment',
      form: { version: '1', portfolio: '2', amountMinor: '6174', currency: 'USD' },
    },
  ],
  'GET /admin/orders/:id/fulfilment/progress': [
    { path: '/admin/orders/{order}/fulfilment/progress' },
  ],
  'POST /admin/orders/:id/fulfilment/check': [
    { path: '/admin/orders/{order}/fulfilment/check', form: {} },
  ],
  'GET /admin/orders/:id/fulfilment/reset': [{ path: '/admin/orders/{order}/fulfilment/reset' }],
  'POST /admin/orders/:id/fulfilment/reset': [
    { path: '/admin/orders/{order}/fulfilment/reset', form: {} },
  ],
  'GET /admin/orders/:id/provider-record': [{ path: '/admin/orders/{order}/provider-record' }],
  // The proxy relays these methods for any path below its own.
  ...Object.fromEntries(
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].flatMap((method) => [
      [`${method} /api/ordersource`, [{}]],
      [`${method} /api/ordersource/`, [{}]],
      [`${method} /api/ordersource/*`, [{ path: '/api/ordersource/anything', query: { x: '1' } }]],
    ]),
  ),
})

export default calls
