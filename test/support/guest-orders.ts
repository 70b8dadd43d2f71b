import type { Test } from 'tap'
import { startFakeProvider, type FakeProvider } from '../../src/demo/fake-provider/fake-provider.js'
import { createGuest, findLink, placeOrder, type Guest } from './guest.js'
import { startTwoAdmins, type PageClient } from './page-client.js'
import { upstreamEnvironment } from './recording-upstream.js'
import { waitFor } from './wait-for.js'

/** Starts a provider; it stops when the test ends. */
export async function startProvider(t: Test, credit?: number): Promise<FakeProvider> {
  const provider = await startFakeProvider({
    token: 'token-of-the-tests',
    ...(credit === undefined ? {} : { credit }),
  })
  t.teardown(() => provider.close())
  return provider
}

/** Configuration that offers a provider's credits. */
export const offerCredits = ({ url, token }: FakeProvider): NodeJS.ProcessEnv =>
  upstreamEnvironment(url, { ORDERSOURCE_API_TOKEN: token })

/** Configuration that places paid orders with a provider. */
export const autoFulfil = (provider: FakeProvider): NodeJS.ProcessEnv => ({
  ...offerCredits(provider),
  ORDERSOURCE_NAME: 'Harbour Climate',
  AUTO_FULFIL: 'true',
})

/** Starts a service that places paid orders. */
export async function startAutoFulfilment(t: Test, environment: NodeJS.ProcessEnv = {}) {
  const provider = await startProvider(t)
  const started = await startTwoAdmins(t, { ...autoFulfil(provider), ...environment })
  return { provider, ...started, guest: createGuest(started.url) }
}

export const getOrder = (client: PageClient, id: string): Promise<any> =>
  client.call('GET', `/api/admin/orders/${id}`)

/** Waits until an order has a status, and returns it. */
export const waitForStatus = (client: PageClient, id: string, status: string): Promise<any> =>
  waitFor(async () => {
    const order = await getOrder(client, id)
    return order.status === status && order
  })

/** Waits until the page of an order has a certificate; returns the path of the certificate. */
export const waitForCertificate = (guest: Guest, path: string): Promise<string> =>
  waitFor(async () => findLink(await guest.get(path), 'View the page') || null)

/** Orders, pays, and waits for the certificate of order `id`. */
export async function orderCertificate(
  { guest, ann }: { guest: Guest; ann: PageClient },
  id: string,
  fields: Record<string, string> = {},
): Promise<{ path: string; certificate: string }> {
  const path = await placeOrder(guest, fields)
  await ann.call('PATCH', `/api/admin/orders/${id}`, { status: 'paid' })
  return { path, certificate: await waitForCertificate(guest, path) }
}
