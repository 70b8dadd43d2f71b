import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import t, { type Test } from 'tap'
import { projectRoot } from '../../src/core/config/config-part.js'
import { freePort } from '../support/free-port.js'
import { startOrderApi } from '../support/order-api.js'
import { waitFor, waitForEqual } from '../support/wait-for.js'

const PURCHASE = {
  customer: { name: 'Ann Example', email: 'ann@example.com' },
  vessel: { name: 'Ever Given', imoNumber: '9811000' },
  trip: {
    calculatorType: 'fuel',
    calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  },
  amountMinor: 4009,
  currency: 'EUR',
}

/** Starts an example program in its own process; killed when the test ends. */
function startExample(t: Test, command: string, path: string, environment: NodeJS.ProcessEnv) {
  const child = spawn(command, [join(projectRoot, 'examples', path)], {
    env: { PATH: process.env.PATH, ...environment },
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (part: Buffer) => (output += part.toString()))
  }
  return { child, getOutput: () => output }
}

const startApi = (t: Test) => startOrderApi(t, { WEBHOOK_ALLOW_LOOPBACK: 'true' })

t.test('the example shop creates orders and QR codes, and follows them by webhooks', async (t) => {
  const { call, url } = await startApi(t)
  const scopes = ['qr:write', 'orders:read', 'orders:write', 'webhooks:manage']
  const { body: key } = await call('POST', '/api/admin/api-keys', { name: 'Shop', scopes })
  const port = String(await freePort())
  const shop = `http://127.0.0.1:${port}`
  const { getOutput } = startExample(t, process.execPath, 'shop/shop.js', {
    CLEARWAKE_URL: url,
    CLEARWAKE_API_KEY: key.key,
    PORT: port,
  })
  const respondsOn = () => fetch(shop).catch(() => null)
  await waitFor(respondsOn, 30_000)

  const buy = async (): Promise<any> => {
    const body = JSON.stringify(PURCHASE)
    const response = await fetch(`${shop}/purchases/17`, { method: 'PUT', body })
    return response.json()
  }
  const purchase = await buy()
  t.match(purchase, {
    orderNumber: /^CW-/,
    status: 'unpaid',
    qrCodeUrl: /\/calculator\/fuel\?data=/,
  })
  t.same(await buy(), purchase, 'a retry returns the same purchase')
  t.equal(
    (await call('GET', '/api/admin/orders')).body.totalItems,
    1,
    'and creates no second order',
  )
  t.equal((await fetch(purchase.qrCodeUrl as string)).status, 200)

  const getStatus = async () => {
    const response = await fetch(`${shop}/purchases/17`)
    return ((await response.json()) as { status: string }).status
  }
  const path = `/api/admin/orders/${purchase.orderId}`
  await call('PATCH', path, { status: 'paid' })
  await waitForEqual(t, getStatus, 'paid')
  await call('PATCH', path, { status: 'fulfilled' })
  await waitForEqual(t, getStatus, 'fulfilled')

  const { body: order } = await call('GET', path)
  const event = { type: 'order.cancelled', timestamp: new Date().toISOString(), data: order }
  const id = 'msg_forged'
  const now = new Date()
  const other = new Webhook('whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=')
  const forged = await fetch(`${shop}/webhooks`, {
    method: 'POST',
    body: JSON.stringify(event),
    headers: {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': other.sign(id, now, JSON.stringify(event)),
    },
  })
  t.equal(forged.status, 400, 'a forged webhook is refused')
  t.equal(await getStatus(), 'fulfilled')

  const invalid = await fetch(`${shop}/purchases/18`, {
    method: 'PUT',
    body: JSON.stringify({ ...PURCHASE, currency: 'euro' }),
  })
  t.match(await invalid.text(), /currency must be an ISO 4217 code/)
  t.match(getOutput(), 'The shop is at')
})

for (const [command, path] of [
  [process.execPath, 'receive-webhooks.js'],
  ['python3', 'receive_webhooks.py'],
] as const) {
  t.test(`${path} verifies webhooks`, async (t) => {
    const { call } = await startApi(t)
    const port = await freePort()
    const { body: endpoint } = await call('POST', '/api/admin/webhooks', {
      url: `http://127.0.0.1:${port}/`,
      events: ['order.paid'],
    })
    const { getOutput } = startExample(t, command, path, {
      PORT: String(port),
      WEBHOOK_SECRET: endpoint.secret,
    })
    const send = (headers: Record<string, string>, body: string) =>
      fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })
    await waitFor(() => send({}, '{}').catch(() => null), 30_000)

    const endpointPath = `/api/admin/webhooks/${endpoint.id}`
    await call('POST', `${endpointPath}/rotate-secret`)
    await call('POST', `${endpointPath}/test`)
    const delivery = await waitFor(async () => {
      const { body } = await call('GET', `${endpointPath}/deliveries`)
      return body.items[0].state !== 'pending' && body.items[0]
    })
    t.match(delivery, { state: 'sent', attempts: [{ status: 204 }] }, 'after a rotation too')
    t.match(getOutput(), 'webhook.test')

    const webhook = new Webhook(endpoint.secret as string)
    const sign = (body: string, at: Date, signed = body) => ({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': webhook.sign('msg_1', at, signed),
    })
    const body = '{"type":"order.paid","data":{}}'
    const now = new Date()
    const old = new Date(now.getTime() - 6 * 60_000)
    t.equal((await send(sign(body, now), body)).status, 204)
    t.equal((await send(sign(body, now, '{}'), body)).status, 400, 'a different body')
    t.equal((await send(sign(body, old), body)).status, 400, 'an old webhook')
    t.equal((await send({}, body)).status, 400, 'no signature')
  })

  t.test(`${path} does not start without a secret`, async (t) => {
    for (const WEBHOOK_SECRET of [undefined, '', 'whsec_', 'whsec_…']) {
      const { child, getOutput } = startExample(t, command, path, { WEBHOOK_SECRET, PORT: '0' })
      const [code] = (await once(child, 'close')) as [number | null]
      t.equal(code, 1, String(WEBHOOK_SECRET))
      if (WEBHOOK_SECRET !== 'whsec_…') t.match(getOutput(), 'WEBHOOK_SECRET')
    }
  })
}
