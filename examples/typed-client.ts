import type { operations, webhooks } from './clearwake.js'

// Types from `npx openapi-typescript http://127.0.0.1:3000/openapi.json -o clearwake.d.ts`.

type NewOrder = operations['createOrder']['requestBody']['content']['application/json']
type Order = operations['getOrder']['responses'][200]['content']['application/json']
type OrderPage = operations['listOrders']['responses'][200]['content']['application/json']
type OrderQuery = NonNullable<operations['listOrders']['parameters']['query']>
type Problem = operations['createOrder']['responses']['4XX']['content']['application/problem+json']
type OrderPaid = webhooks['order.paid']['post']['requestBody']['content']['application/json']

const { CLEARWAKE_URL = 'http://127.0.0.1:3000', CLEARWAKE_API_KEY = '' } = process.env

async function call<Result>(method: string, path: string, body?: object): Promise<Result> {
  const response = await fetch(CLEARWAKE_URL + path, {
    method,
    headers: {
      authorization: `Bearer ${CLEARWAKE_API_KEY}`,
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) {
    const { detail, errors = [] } = (await response.json()) as Problem
    throw new Error(`${detail} (${errors.length} invalid fields)`)
  }
  return (await response.json()) as Result
}

const createOrder = (order: NewOrder) => call<Order>('POST', '/api/admin/orders', order)

const listOrders = (query: OrderQuery) => {
  const parameters = Object.entries(query).map(([name, value]) => [name, String(value)])
  return call<OrderPage>('GET', `/api/admin/orders?${new URLSearchParams(parameters)}`)
}

const describeEvent = ({ type, data }: OrderPaid): string => `${type}: ${data.orderNumber}`

const order = await createOrder({
  customerName: 'Ann Example',
  customerEmail: 'ann@example.com',
  vesselName: 'Ever Given',
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'mgo', quantity: 500, unit: 'l' },
  amountMinor: 4009,
  currency: 'EUR',
})
const { items, totalItems } = await listOrders({ sort: '-co2eKg', pageSize: 5 })
const timestamp = new Date().toISOString()
console.log(
  JSON.stringify({
    kilograms: order.co2eKg.toFixed(2),
    vessel: order.vesselName?.toUpperCase(),
    status: order.status satisfies 'pending' | 'paid' | Order['status'],
    isListed: items.some(({ id }) => id === order.id),
    totalItems,
    event: describeEvent({ type: 'order.paid', timestamp, data: order }),
  }),
)
