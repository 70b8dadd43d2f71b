import type { ValidCalls } from '../support/valid-calls.js'

/** A webhook endpoint and a delivery to it, if a test creates them. */
export const WEBHOOK_ID = 'we_1'
export const DELIVERY_ID = 'msg_1'
/** Requests to this name never leave the machine (RFC 2606). */
const WEBHOOK = {
  url: 'https://shop.invalid/webhooks',
  events: ['order.created', 'order.paid'],
  description: 'The shop',
}

const calls = (): ValidCalls => ({
  'GET /api/admin/webhooks': [{}],
  'POST /api/admin/webhooks': [{ json: WEBHOOK }],
  'GET /api/admin/webhooks/:id': [{ path: `/api/admin/webhooks/${WEBHOOK_ID}` }],
  'PATCH /api/admin/webhooks/:id': [
    { path: `/api/admin/webhooks/${WEBHOOK_ID}`, json: { ...WEBHOOK, enabled: true } },
  ],
  'DELETE /api/admin/webhooks/:id': [{ path: `/api/admin/webhooks/${WEBHOOK_ID}` }],
  'POST /api/admin/webhooks/:id/test': [{ path: `/api/admin/webhooks/${WEBHOOK_ID}/test` }],
  'POST /api/admin/webhooks/:id/rotate-secret': [
    { path: `/api/admin/webhooks/${WEBHOOK_ID}/rotate-secret` },
  ],
  'GET /api/admin/webhooks/:id/deliveries': [
    {
      path: `/api/admin/webhooks/${WEBHOOK_ID}/deliveries`,
      query: { page: '1', pageSize: '10' },
    },
  ],
  'POST /api/admin/webhooks/:id/deliveries/:deliveryId/replay': [
    { path: `/api/admin/webhooks/${WEBHOOK_ID}/deliveries/${DELIVERY_ID}/replay` },
  ],
  'POST /api/admin/webhooks/:id/replay': [
    {
      path: `/api/admin/webhooks/${WEBHOOK_ID}/replay`,
      json: { since: '2026-01-02T03:04:05Z', failedOnly: true },
    },
  ],
  'GET /admin/settings/webhooks': [{}],
  'POST /admin/settings/webhooks': [{ form: WEBHOOK }],
  'GET /admin/settings/webhooks/new': [{}],
  'GET /admin/settings/webhooks/:id': [
    { path: `/admin/settings/webhooks/${WEBHOOK_ID}`, query: { page: '2' } },
  ],
  'GET /admin/settings/webhooks/:id/edit': [
    { path: `/admin/settings/webhooks/${WEBHOOK_ID}/edit` },
  ],
  'POST /admin/settings/webhooks/:id/edit': [
    { path: `/admin/settings/webhooks/${WEBHOOK_ID}/edit`, form: WEBHOOK },
  ],
  'GET /admin/settings/webhooks/:id/delete': [
    { path: `/admin/settings/webhooks/${WEBHOOK_ID}/delete` },
  ],
  'POST /admin/settings/webhooks/:id/deliveries/:deliveryId/replay': [
    {
      path: `/admin/settings/webhooks/${WEBHOOK_ID}/deliveries/${DELIVERY_ID}/replay`,
      form: {},
    },
  ],
  'POST /admin/settings/webhooks/:id/replay': [
    {
      path: `/admin/settings/webhooks/${WEBHOOK_ID}/replay`,
      form: { since: '2026-01-02T03:04', failedOnly: 'true' },
    },
  ],
  ...Object.fromEntries(
    ['test', 'rotate-secret', 'disable', 'enable'].map((action) => [
      `POST /admin/settings/webhooks/:id/${action}`,
      [{ path: `/admin/settings/webhooks/${WEBHOOK_ID}/${action}`, form: {} }],
    ]),
  ),
  'POST /admin/settings/webhooks/:id/delete': [
    { path: `/admin/settings/webhooks/${WEBHOOK_ID}/delete`, form: {} },
  ],
})

export default calls
