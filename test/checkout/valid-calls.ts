import { TYPICAL_CALCULATIONS } from '../support/calculations.js'
import type { CallContext, ValidCalls } from '../support/valid-calls.js'

const ORDER_FORM = {
  customerName: 'Ann Example',
  customerEmail: 'ann@example.com',
  vesselName: 'Ever Given',
  imoNumber: 'IMO 9811000',
  co2eKg: '1,603.6',
  amount: '40.09',
  currency: 'EUR',
  orderSourceId: 'of_1',
  notes: 'Called back',
  status: 'pending',
  placedAt: '2026-01-02 03:04',
  calculatorType: 'fuel',
  'fuel.fuelType': 'mgo',
  'fuel.quantity': '500',
  'fuel.unit': 'l',
  computed: '',
}
const CUSTOM_TRIP = { type: 'custom', amount: '2', unit: 't' }

const calls = ({ link, guestOrder, mail }: CallContext): ValidCalls => ({
  'POST /api/offset-quotes': [
    { json: { ...TYPICAL_CALCULATIONS.fuel, portfolioId: 2, sharePercent: 150 } },
    { json: { ...TYPICAL_CALCULATIONS.custom, vessel: { name: 'Eendracht' } } },
  ],
  'GET /offset': [
    { query: CUSTOM_TRIP },
    { query: { ...CUSTOM_TRIP, portfolioId: '3', sharePercent: '137' } },
    { query: Object.fromEntries(link.searchParams) },
  ],
  'POST /offset': [
    { form: { ...CUSTOM_TRIP, action: 'update', portfolioId: '2', sharePercent: '150' } },
    { form: { ...Object.fromEntries(link.searchParams), action: 'update', name: 'Ann' } },
    { form: { ...CUSTOM_TRIP, name: 'Ann', email: 'ann@example.com', quote: 'x.y', form: 'x' } },
  ],
  'GET /carbon-credits': [{}],
  'GET /projects/:portfolioId/:projectId': [{ path: '/projects/1/11' }],
  'GET /projects/:portfolioId/:projectId/image': [{ path: '/projects/1/11/image' }],
  'GET /o/:token': [{ path: guestOrder }],
  'GET /o/:token/cancel': [{ path: `${guestOrder}/cancel` }],
  'GET /o/:token/payment-request.pdf': [{ path: `${guestOrder}/payment-request.pdf` }],
  'POST /o/:token/cancel': [{ path: `${guestOrder}/cancel`, form: {} }],
  'POST /o/:token/pay': [{ path: `${guestOrder}/pay`, form: {} }],
  'POST /admin/orders': [{ form: ORDER_FORM }],
  'GET /admin/orders/new': [{}],
  'POST /admin/orders/new/emissions': [{ form: ORDER_FORM }],
  'POST /admin/orders/new/price': [{ form: { ...ORDER_FORM, portfolio: '1' } }],
  'GET /admin/orders/:id/mails': [{ path: '/admin/orders/{order}/mails' }],
  'POST /admin/orders/:id/mails/:mailId/send': [{ path: `${mail}/send`, form: {} }],
  'GET /admin/settings/email': [{ query: { state: 'failed', page: '2' } }],
})

export default calls
