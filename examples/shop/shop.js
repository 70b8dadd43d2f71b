import { createServer } from 'node:http'
import { json, text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { createClearwakeClient } from './clearwake.js'
import { createPurchases } from './purchases.js'

const {
  CLEARWAKE_URL = 'http://127.0.0.1:3000',
  CLEARWAKE_API_KEY: apiKey = '',
  PORT = '4000',
  SHOP_URL = `http://127.0.0.1:${PORT}`,
} = process.env

const clearwake = createClearwakeClient({ url: CLEARWAKE_URL, apiKey })
const purchases = createPurchases()

/** Sells carbon credits for a trip: an order, and a QR code for the vessel. */
async function createPurchase(number, { customer, vessel, trip, amountMinor, currency }) {
  const order = await clearwake.createOrder(
    {
      customerName: customer.name,
      customerEmail: customer.email,
      vesselName: vessel.name,
      ...trip,
      amountMinor,
      currency,
    },
    // The number identifies the purchase, so that a retry never creates a second order.
    `purchase-${number}`,
  )
  const { id: orderId, orderNumber, co2eKg, version } = order
  const purchase = purchases.get(number) ?? {
    orderId,
    orderNumber,
    co2eKg,
    version,
    status: 'unpaid',
  }
  purchases.set(number, purchase)
  purchase.qrCodeUrl ??= (await clearwake.createQrCode({ ...trip, vessel })).url
  return purchase
}

async function receiveWebhook(request) {
  // The raw body is verified before it is parsed.
  const event = webhook.verify(await text(request), request.headers)
  purchases.apply(request.headers['webhook-id'], event)
}

async function handle(request, response) {
  const respond = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const [, resource, number] = request.url.split('/')
  const route = `${request.method} ${resource}`
  if (route === 'POST webhooks') {
    await receiveWebhook(request)
    return response.writeHead(204).end()
  }
  if (route === 'PUT purchases') {
    return respond(200, await createPurchase(number, await json(request)))
  }
  const purchase = route === 'GET purchases' && purchases.get(number)
  return purchase ? respond(200, purchase) : respond(404, { error: 'not found' })
}

const server = createServer((request, response) => {
  handle(request, response).catch((error) => response.writeHead(400).end(error.message))
})
const webhook = new Webhook(
  await clearwake.createWebhook({
    url: `${SHOP_URL}/webhooks`,
    description: 'Example shop',
    events: ['order.paid', 'order.fulfilled', 'order.cancelled', 'order.refunded'],
  }),
)
server.listen(Number(PORT), '127.0.0.1', () => console.log(`The shop is at ${SHOP_URL}`))
