import { TYPICAL_CALCULATIONS } from './calculations.js'
import { newOrder } from './order-store.js'

/** A typical valid request to a route; tests derive invalid ones from it. */
export interface Call {
  method: string
  /** Without query; `{order}` is a placeholder for an order ID */
  path: string
  query: Record<string, string | string[]>
  headers: Record<string, string>
  /** Body, as JSON or as a form */
  body: { json: unknown } | { form: Record<string, string | string[]> } | null
}

type Sketch = Partial<Pick<Call, 'path' | 'query' | 'headers'>> & {
  json?: unknown
  form?: Record<string, string | string[]>
}

const LIST = {
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
const AUDIT_FILTERS = {
  q: '127.0.0',
  action: ['sign_in.failed', 'sign_in.succeeded'],
  actor: 'admin@example.com',
  from: '2020-01-01',
  to: '2030-12-31',
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
const TRIP = { fuelType: 'mgo', quantity: '500', unit: 'l' }
const CUSTOM_TRIP = { type: 'custom', amount: '2', unit: 't' }
const CODE_REQUEST = {
  ...TYPICAL_CALCULATIONS.distance,
  vessel: { name: 'Ever Given', imoNumber: '9811000' },
  image: { size: 128, margin: 1, errorCorrection: 'L' },
}
const CODE_FORM = {
  calculatorType: 'fuel',
  'fuel.fuelType': 'mgo',
  'fuel.quantity': '500',
  'fuel.unit': 'l',
  'vessel.name': 'Eendracht',
  'vessel.imoNumber': '8814275',
  'image.size': '128',
  'image.margin': '1',
  'image.errorCorrection': 'L',
}
/** Requests to this name never leave the machine (RFC 2606). */
const WEBHOOK = {
  url: 'https://shop.invalid/webhooks',
  events: ['order.created', 'order.paid'],
  description: 'The shop',
}
/** A webhook endpoint and a delivery to it, if a test creates them. */
export const WEBHOOK_ID = 'we_1'
export const DELIVERY_ID = 'msg_1'
/** An event that was set aside, if a test sets it aside. */
export const EVENT_ID = 'event_1'
/** A session, if a test starts it. */
export const SESSION_ID = 'session_1'
/** An account, and the tokens of links by purpose, if a test creates them. */
export const ACCOUNT_ID = 'account_1'
export const LINK_TOKENS = { invitation: 'a'.repeat(43), 'password-reset': 'b'.repeat(43) }

/** Of an unknown passkey, as browsers send it. */
const CREDENTIAL = JSON.stringify({
  id: 'x',
  rawId: 'x',
  type: 'public-key',
  clientExtensionResults: {},
  response: {
    clientDataJSON: Buffer.from('{"type":"webauthn.get","challenge":"x"}').toString('base64url'),
    attestationObject: 'oA',
    authenticatorData: 'oA',
    signature: 'oA',
    transports: ['usb'],
  },
})
const NEW_PASSWORD = { password: 'four unrelated words', repeated: 'four unrelated words' }

const ESTIMATES = Object.fromEntries(
  Object.entries(TYPICAL_CALCULATIONS).map(([type, { calculatorData }]) => [
    `POST /api/calculators/${type}/estimate`,
    [{ json: calculatorData }],
  ]),
)

export interface CallContext {
  /** A valid scanned link */
  link: URL
  /** Path of an asset */
  asset: string
  /** ID of an API key */
  apiKey: string
  /** Path of the page of a guest's order */
  guestOrder: string
  /** Path of the page of a certificate */
  certificate: string
  /** Path of an email about that order, in the portal */
  mail: string
  /** ID of an order at the provider */
  offsetOrder: string
  /** Credentials of an administrator */
  credentials: { email: string; password: string }
}

/** Valid requests by method and route; HEAD is derived from GET. */
const sketches = ({ link, asset, credentials }: CallContext): Record<string, Sketch[]> => ({
  'GET /': [{}],
  // The route table lists the assets without their folder.
  'GET /*': [{ path: asset, headers: { 'if-none-match': '"x"', range: 'bytes=0-9' } }],
  'GET /healthz': [{}],
  'GET /readyz': [{}],
  'GET /metrics': [{}],
  'GET /.well-known/security.txt': [{}],
  'GET /openapi.json': [{}],
  'GET /docs': [{}],
  'GET /calculator/:type': [
    { path: '/calculator/fuel', query: TRIP },
    { path: '/calculator/custom', query: { amount: '1.5', unit: 't', description: 'A trip' } },
    { path: link.pathname, query: Object.fromEntries(link.searchParams) },
    {
      path: link.pathname,
      query: {
        ...TRIP,
        code: link.searchParams.get('data') ?? '',
        codeSig: link.searchParams.get('sig') ?? '',
      },
      headers: { 'hx-request': 'true', 'hx-request-type': 'partial', 'hx-target': 'div#result' },
    },
  ],
  'GET /qr-test': [{ query: CODE_FORM }],
  'GET /api/calculators': [
    { headers: { accept: 'application/json' } },
    { query: { edition: '2025-06' } },
  ],
  'GET /api/calculators/editions': [{}],
  ...ESTIMATES,
  'POST /api/qr-codes': [
    { json: { codes: [CODE_REQUEST] } },
    {
      json: { codes: [CODE_REQUEST, CODE_REQUEST], format: 'png' },
      headers: { accept: 'application/x-ndjson' },
    },
  ],
  'POST /api/qr-code/generate': [
    { json: CODE_REQUEST },
    { json: CODE_REQUEST, headers: { accept: 'image/png' } },
    {
      json: { ...CODE_REQUEST, ...TYPICAL_CALCULATIONS.custom },
      headers: { accept: 'image/svg+xml' },
    },
  ],
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
  'GET /o/:token': [{}],
  'GET /o/:token/cancel': [{}],
  'GET /o/:token/certificate.pdf': [{}],
  'GET /c/:code': [{}],
  'GET /c/:code(^[\\w-]+).pdf': [{}],
  'POST /o/:token/cancel': [{ form: {} }],
  'POST /o/:token/pay': [{ form: {} }],
  'POST /api/payments/stripe/webhook': [
    {
      json: { id: 'evt_1', object: 'event', type: 'charge.refunded', data: { object: {} } },
      headers: { 'stripe-signature': 't=1,v1=00' },
    },
  ],
  'POST /api/admin/login': [{ json: credentials }],
  'POST /api/admin/logout': [{}],
  'GET /api/admin/verify': [{}],
  'GET /api/admin/orders': [{ query: { ...LIST, page: '1', pageSize: '10' } }, {}],
  'POST /api/admin/orders': [
    { json: FULL_ORDER },
    {
      json: { ...FULL_ORDER, ...TYPICAL_CALCULATIONS.distance },
      headers: { 'idempotency-key': 'order-4711' },
    },
    { json: newOrder() },
  ],
  'GET /api/admin/orders/:id': [{}],
  'PATCH /api/admin/orders/:id': [
    { json: { customerName: 'Ann', vesselName: null, notes: 'Called back', amountMinor: 5 } },
    { json: { notes: 'x' }, headers: { 'if-match': '*' } },
  ],
  'DELETE /api/admin/orders/:id': [{ headers: { 'if-match': '"1"' } }, {}],
  'POST /api/admin/orders/:id/recalculate': [{}, { headers: { 'if-match': '"1"' } }],
  'GET /api/admin/orders/:id/history': [{}],
  'GET /api/admin/orders/:id/payments': [{}],
  'GET /api/admin/orders/export': [
    { query: { ...LIST, format: 'csv' } },
    { query: { ...LIST, format: 'xlsx' } },
  ],
  'GET /api/admin/audit-log': [{ query: { ...AUDIT_FILTERS, before: '1000', pageSize: '10' } }, {}],
  'GET /api/admin/audit-log/export': [
    { query: { ...AUDIT_FILTERS, format: 'csv' } },
    { query: { format: 'ndjson' } },
  ],
  'GET /admin/settings/audit-log': [{ query: { ...AUDIT_FILTERS, before: '1000' } }],
  'GET /admin/settings/audit-log/export': [{ query: { ...AUDIT_FILTERS, format: 'ndjson' } }],
  'GET /api/admin/api-keys': [{}],
  'POST /api/admin/api-keys': [
    { json: { name: 'Web shop', scopes: ['orders:read'] } },
    { json: { name: 'Web shop', scopes: ['qr:write'], expiresAt: '2100-01-01T00:00:00Z' } },
  ],
  'DELETE /api/admin/api-keys/:id': [{}],
  'POST /api/admin/stats': [{ json: { range: '30d' } }, { json: { range: 'all' } }],
  'GET /api/ordersource/portfolios': [{}],
  'GET /api/ordersource/offset-orders': [{}],
  'POST /api/ordersource/offset-orders': [
    { json: { tons: 1.6, portfolioId: 2, note: 'CW-000123', dryRun: true } },
  ],
  'GET /api/ordersource/offset-orders/:id': [{}],
  'GET /admin': [{ query: { range: '7d' } }],
  'GET /admin/login': [{ query: { returnTo: '/admin/orders?q=x' } }],
  'POST /admin/login': [{ form: { ...credentials, returnTo: '/admin/orders?q=x' } }],
  'POST /admin/logout': [{ form: {} }],
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
  'POST /admin/orders': [{ form: ORDER_FORM }],
  'GET /admin/orders/new': [{}],
  'POST /admin/orders/new/emissions': [{ form: ORDER_FORM }],
  'POST /admin/orders/new/price': [{ form: { ...ORDER_FORM, portfolio: '1' } }],
  'GET /admin/orders/export': [{ query: { ...LIST, format: 'csv' } }],
  'GET /admin/settings/api-keys': [{}],
  'GET /admin/settings/api-keys/new': [{}],
  'POST /admin/settings/api-keys': [
    { form: { name: 'Web shop', scopes: 'orders:read', days: '30' } },
  ],
  'GET /admin/settings/api-keys/:id/revoke': [{}],
  'POST /admin/settings/api-keys/:id/revoke': [{ form: {} }],
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
    { query: { ...LIST, at: '2' }, headers: { cookie: 'clearwake-flash=saved.{order}' } },
  ],
  'GET /admin/orders/:id/edit': [{ query: { group: 'amounts' } }],
  'POST /admin/orders/:id/edit': [
    {
      query: { group: 'amounts', at: '2' },
      form: { version: '1', co2eKg: '12.5', amount: '10', currency: 'EUR' },
    },
    {
      query: { group: 'customer' },
      form: { version: '1', customerName: 'Ben', customerEmail: 'ben@example.com' },
      headers: { 'hx-request': 'true', 'hx-request-type': 'partial' },
    },
  ],
  'POST /admin/orders/:id/status': [{ query: { at: '2' }, form: { version: '1', status: 'paid' } }],
  'GET /admin/orders/:id/cancel': [{ query: { at: '2' } }],
  'POST /admin/orders/:id/cancel': [{ query: { at: '2' }, form: { version: '1' } }],
  'GET /admin/orders/:id/refund': [{ query: { at: '2' } }],
  'POST /admin/orders/:id/refund': [{ form: {} }],
  'POST /admin/orders/:id/recalculate': [{ query: { at: '2' }, form: { version: '1' } }],
  'POST /admin/orders/:id/restore': [{ form: { version: '1' } }],
  'GET /admin/orders/:id/fulfilment': [{ query: { at: '2', portfolio: '2' } }],
  'POST /admin/orders/:id/fulfilment': [
    { form: { version: '1', portfolio: '2', amountMinor: '6174', currency: 'USD' } },
  ],
  'GET /admin/orders/:id/fulfilment/progress': [{}],
  'POST /admin/orders/:id/fulfilment/check': [{ form: {} }],
  'GET /admin/orders/:id/fulfilment/reset': [{}],
  'POST /admin/orders/:id/fulfilment/reset': [{ form: {} }],
  'GET /admin/orders/:id/provider-record': [{}],
  'GET /api/admin/sessions': [{}],
  'DELETE /api/admin/sessions': [{}],
  'DELETE /api/admin/sessions/:id': [{}],
  'GET /admin/account': [{}],
  'POST /admin/account/sessions/end-others': [{ form: {} }],
  'POST /admin/account/sessions/:id/end': [{ form: {} }],
  'GET /admin/account/password': [{}],
  'POST /admin/account/password': [{ form: { current: 'a wrong password', ...NEW_PASSWORD } }],
  'GET /admin/account/second-factor': [{}],
  'GET /admin/account/authenticator-app': [{}],
  'POST /admin/account/authenticator-app': [{ form: { sealed: 'invalid', code: '123456' } }],
  'POST /admin/account/authenticator-app/remove': [{ form: {} }],
  'POST /admin/account/passkeys': [{ form: { name: 'Phone', credential: CREDENTIAL } }],
  'POST /admin/account/passkeys/options': [{ form: {} }],
  'POST /admin/account/passkeys/:id/remove': [{ form: {} }],
  'POST /admin/account/recovery-codes': [{ form: {} }],
  'GET /admin/confirm': [{ query: { returnTo: '/admin/orders?q=x' } }],
  'POST /admin/confirm': [{ form: { password: credentials.password, returnTo: '/admin/orders' } }],
  'POST /admin/confirm/passkey': [{ form: { credential: CREDENTIAL } }],
  'GET /admin/login/verify': [{ query: { returnTo: '/admin/orders?q=x' } }],
  'POST /admin/login/verify': [{ form: { code: '123456' } }],
  'POST /admin/login/passkey': [{ form: { credential: CREDENTIAL } }],
  'POST /admin/login/passkey/options': [{ form: {} }],
  'GET /admin/forgot-password': [{}],
  'POST /admin/forgot-password': [{ form: { email: 'ann@example.com' } }],
  ...Object.fromEntries(
    Object.entries(LINK_TOKENS).flatMap(([page, token]) => {
      const path = `/admin/${page}/${token}`
      return [
        [`GET /admin/${page}/:token`, [{ path }]],
        [`POST /admin/${page}/:token`, [{ path, form: NEW_PASSWORD }]],
      ]
    }),
  ),
  'GET /api/admin/accounts': [{}],
  'POST /api/admin/accounts': [{ json: { email: 'ann@example.com', role: 'viewer' } }],
  'PATCH /api/admin/accounts/:id': [{ json: { role: 'viewer', disabled: false } }],
  'DELETE /api/admin/accounts/:id': [{}],
  'DELETE /api/admin/accounts/:id/second-factor': [{}],
  'GET /admin/settings/people': [{}],
  'GET /admin/settings/people/invite': [{}],
  'POST /admin/settings/people': [{ form: { email: 'new-person@example.com', role: 'viewer' } }],
  'GET /admin/settings/people/:id/delete': [{}],
  ...Object.fromEntries(
    ['role', 'enable', 'disable', 'link', 'second-factor/remove', 'delete'].map((action) => [
      `POST /admin/settings/people/:id/${action}`,
      [{ form: { role: 'viewer' } }],
    ]),
  ),
  // Of a customer whom no other call needs.
  'POST /api/admin/erasures': [{ json: { email: 'nobody@example.com' } }],
  'GET /admin/settings/personal-data': [{}],
  'POST /admin/settings/personal-data': [{ form: { email: 'ann@example.com' } }],
  'POST /admin/settings/personal-data/erase': [{ form: { email: 'nobody@example.com' } }],
  'GET /api/admin/webhooks': [{}],
  'POST /api/admin/webhooks': [{ json: WEBHOOK }],
  'GET /api/admin/webhooks/:id': [{}],
  'PATCH /api/admin/webhooks/:id': [{ json: { ...WEBHOOK, enabled: true } }],
  'DELETE /api/admin/webhooks/:id': [{}],
  'POST /api/admin/webhooks/:id/test': [{}],
  'POST /api/admin/webhooks/:id/rotate-secret': [{}],
  'GET /api/admin/webhooks/:id/deliveries': [{ query: { page: '1', pageSize: '10' } }],
  'POST /api/admin/webhooks/:id/deliveries/:deliveryId/replay': [{}],
  'POST /api/admin/webhooks/:id/replay': [
    { json: { since: '2026-01-02T03:04:05Z', failedOnly: true } },
  ],
  'GET /admin/orders/:id/mails': [{}],
  'POST /admin/orders/:id/mails/:mailId/send': [{ form: {} }],
  'GET /admin/settings/email': [{ query: { state: 'failed', page: '2' } }],
  'GET /admin/settings/events': [{}],
  'POST /admin/settings/events/:id/retry': [{ form: {} }],
  'GET /admin/settings': [{}],
  'GET /admin/settings/webhooks': [{}],
  'POST /admin/settings/webhooks': [{ form: WEBHOOK }],
  'GET /admin/settings/webhooks/new': [{}],
  'GET /admin/settings/webhooks/:id': [{ query: { page: '2' } }],
  'GET /admin/settings/webhooks/:id/edit': [{}],
  'POST /admin/settings/webhooks/:id/edit': [{ form: WEBHOOK }],
  'GET /admin/settings/webhooks/:id/delete': [{}],
  'POST /admin/settings/webhooks/:id/deliveries/:deliveryId/replay': [{ form: {} }],
  'POST /admin/settings/webhooks/:id/replay': [
    { form: { since: '2026-01-02T03:04', failedOnly: 'true' } },
  ],
  ...Object.fromEntries(
    ['test', 'rotate-secret', 'disable', 'enable'].map((action) => [
      `POST /admin/settings/webhooks/:id/${action}`,
      [{ form: {} }],
    ]),
  ),
  'POST /admin/settings/webhooks/:id/delete': [{ form: {} }],
  // The proxy relays these methods for any path below its own.
  ...Object.fromEntries(
    ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'].flatMap((method) => [
      [`${method} /api/ordersource`, [{}]],
      [`${method} /api/ordersource/`, [{}]],
      [`${method} /api/ordersource/*`, [{ path: '/api/ordersource/anything', query: { x: '1' } }]],
    ]),
  ),
})

/** Replaces the parameters of a route by IDs and tokens. */
function fillIn(route: string, context: CallContext): string {
  const { apiKey, guestOrder, certificate, mail, offsetOrder } = context
  const starts: [route: string, path: string][] = [
    ['/admin/orders/:id/mails/:mailId', mail],
    ['/admin/orders/:id', '/admin/orders/{order}'],
    ['/api/admin/orders/:id', '/api/admin/orders/{order}'],
    ['/o/:token', guestOrder],
    ['/c/:code(^[\\w-]+)', certificate],
    ['/c/:code', certificate],
    ['/api/ordersource/offset-orders/:id', `/api/ordersource/offset-orders/${offsetOrder}`],
    ['/admin/account/passkeys/:id', '/admin/account/passkeys/unknown'],
    ...(
      [
        ['api-keys', apiKey],
        ['accounts', ACCOUNT_ID],
        ['people', ACCOUNT_ID],
        ['sessions', SESSION_ID],
        ['webhooks', WEBHOOK_ID],
        ['events', EVENT_ID],
      ] as const
    ).flatMap(([name, id]) =>
      ['/api/admin', '/admin/settings', '/admin/account'].map((scope): [string, string] => [
        `${scope}/${name}/:id`,
        `${scope}/${name}/${id}`,
      ]),
    ),
  ]
  const [start, path] = starts.find(([prefix]) => route.startsWith(prefix)) ?? ['', '']
  return (path + route.slice(start.length)).replace(':deliveryId', DELIVERY_ID)
}

/** Valid requests for every route, by method and route as in the route table. */
export function validCalls(context: CallContext): Map<string, Call[]> {
  const calls = new Map<string, Call[]>()
  for (const [route, given] of Object.entries(sketches(context))) {
    const [method = '', path = ''] = route.split(' ')
    const filled = given.map(({ json, form, ...sketch }) => ({
      method,
      path: fillIn(path, context),
      query: {},
      headers: {},
      body: json !== undefined ? { json } : form !== undefined ? { form } : null,
      ...sketch,
    }))
    calls.set(route, filled)
    if (method !== 'GET') continue
    calls.set(
      `HEAD ${path}`,
      filled.map((call) => ({ ...call, method: 'HEAD' })),
    )
  }
  return calls
}
