import type { ValidCalls } from '../support/valid-calls.js'

const calls = (): ValidCalls => ({
  'POST /api/payments/stripe/webhook': [
    {
      json: { id: 'evt_1', object: 'event', type: 'charge.refunded', data: { object: {} } },
      headers: { 'stripe-signature': 't=1,v1=00' },
    },
  ],
  'GET /api/admin/orders/:id/payments': [{ path: '/api/admin/orders/{order}/payments' }],
  'GET /admin/orders/:id/refund': [{ path: '/admin/orders/{order}/refund', query: { at: '2' } }],
  'POST /admin/orders/:id/refund': [{ path: '/admin/orders/{order}/refund', form: {} }],
})

export default calls
