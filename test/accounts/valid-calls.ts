import type { CallContext, ValidCalls } from '../support/valid-calls.js'

/** A session, if a test starts it. */
export const SESSION_ID = 'session_1'
/** An account, and the tokens of links by purpose, if a test creates them. */
export const ACCOUNT_ID = 'account_1'
export const LINK_TOKENS = { invitation: 'a'.repeat(43), 'password-reset': 'b'.repeat(43) }
const AUDIT_FILTERS = {
  q: '127.0.0',
  action: ['sign_in.failed', 'sign_in.succeeded'],
  actor: 'admin@example.com',
  from: '2020-01-01',
  to: '2030-12-31',
}
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

const calls = ({ apiKey, credentials }: CallContext): ValidCalls => ({
  'POST /api/admin/login': [{ json: credentials }],
  'POST /api/admin/logout': [{}],
  'GET /api/admin/verify': [{}],
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
  'DELETE /api/admin/api-keys/:id': [{ path: `/api/admin/api-keys/${apiKey}` }],
  'GET /admin/login': [{ query: { returnTo: '/admin/orders?q=x' } }],
  'POST /admin/login': [{ form: { ...credentials, returnTo: '/admin/orders?q=x' } }],
  'POST /admin/logout': [{ form: {} }],
  'GET /admin/settings/api-keys': [{}],
  'GET /admin/settings/api-keys/new': [{}],
  'POST /admin/settings/api-keys': [
    { form: { name: 'Web shop', scopes: 'orders:read', days: '30' } },
  ],
  'GET /admin/settings/api-keys/:id/revoke': [
    { path: `/admin/settings/api-keys/${apiKey}/revoke` },
  ],
  'POST /admin/settings/api-keys/:id/revoke': [
    { path: `/admin/settings/api-keys/${apiKey}/revoke`, form: {} },
  ],
  'GET /api/admin/sessions': [{}],
  'DELETE /api/admin/sessions': [{}],
  'DELETE /api/admin/sessions/:id': [{ path: `/api/admin/sessions/${SESSION_ID}` }],
  'GET /admin/account': [{}],
  'POST /admin/account/sessions/end-others': [{ form: {} }],
  'POST /admin/account/sessions/:id/end': [
    { path: `/admin/account/sessions/${SESSION_ID}/end`, form: {} },
  ],
  'GET /admin/account/password': [{}],
  'POST /admin/account/password': [{ form: { current: 'a wrong password', ...NEW_PASSWORD } }],
  'GET /admin/account/second-factor': [{}],
  'GET /admin/account/authenticator-app': [{}],
  'POST /admin/account/authenticator-app': [{ form: { sealed: 'invalid', code: '123456' } }],
  'POST /admin/account/authenticator-app/remove': [{ form: {} }],
  'POST /admin/account/passkeys': [{ form: { name: 'Phone', credential: CREDENTIAL } }],
  'POST /admin/account/passkeys/options': [{ form: {} }],
  'POST /admin/account/passkeys/:id/remove': [
    { path: '/admin/account/passkeys/unknown/remove', form: {} },
  ],
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
  'PATCH /api/admin/accounts/:id': [
    { path: `/api/admin/accounts/${ACCOUNT_ID}`, json: { role: 'viewer', disabled: false } },
  ],
  'DELETE /api/admin/accounts/:id': [{ path: `/api/admin/accounts/${ACCOUNT_ID}` }],
  'DELETE /api/admin/accounts/:id/second-factor': [
    { path: `/api/admin/accounts/${ACCOUNT_ID}/second-factor` },
  ],
  'GET /admin/settings/people': [{}],
  'GET /admin/settings/people/invite': [{}],
  'POST /admin/settings/people': [{ form: { email: 'new-person@example.com', role: 'viewer' } }],
  'GET /admin/settings/people/:id/delete': [
    { path: `/admin/settings/people/${ACCOUNT_ID}/delete` },
  ],
  ...Object.fromEntries(
    ['role', 'enable', 'disable', 'link', 'second-factor/remove', 'delete'].map((action) => [
      `POST /admin/settings/people/:id/${action}`,
      [{ path: `/admin/settings/people/${ACCOUNT_ID}/${action}`, form: { role: 'viewer' } }],
    ]),
  ),
  'GET /admin/settings': [{}],
})

export default calls
