import { setTimeout as sleep } from 'node:timers/promises'

const MAX_ATTEMPTS = 4

/** Whether the same request can succeed later. */
const isTemporary = (status) => status === 429 || status >= 500

/** How long to wait before the next attempt, in ms. */
const getPause = (response, attempt) =>
  Number(response?.headers.get('retry-after') ?? 0) * 1000 || 200 * 2 ** attempt

/**
 * A client of the Clearwake API. It sends a request again if there was no response, or a temporary
 * error: only use it for requests that can be repeated.
 *
 * @param {{ url: string, apiKey: string }} options
 */
export function createClearwakeClient({ url, apiKey }) {
  async function call(method, path, body, headers = {}) {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(url + path, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(body && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body && { body: JSON.stringify(body) }),
      }).catch(() => null)
      if (response?.ok) return response.status === 204 ? null : response.json()
      if (attempt === MAX_ATTEMPTS || (response && !isTemporary(response.status))) {
        // A problem (RFC 9457): `detail` names every invalid field.
        const problem = await response?.json()
        throw new Error(`Clearwake: ${problem?.detail ?? 'no response'}`)
      }
      await sleep(getPause(response, attempt))
    }
  }

  return {
    /** Creates an order once, however often it is called with the same key. */
    createOrder: (order, idempotencyKey) =>
      call('POST', '/api/admin/orders', order, { 'idempotency-key': idempotencyKey }),

    /** Creates a QR code that opens the calculator with a trip. */
    createQrCode: (trip) => call('POST', '/api/qr-code/generate', trip),

    /** Creates a webhook endpoint, and removes an earlier one with its URL. Returns its secret. */
    async createWebhook(endpoint) {
      const { items } = await call('GET', '/api/admin/webhooks')
      for (const { id } of items.filter(({ url }) => url === endpoint.url)) {
        await call('DELETE', `/api/admin/webhooks/${id}`)
      }
      const { secret } = await call('POST', '/api/admin/webhooks', endpoint)
      return secret
    },
  }
}
