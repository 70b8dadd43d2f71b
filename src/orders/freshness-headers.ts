import type { FastifyInstance, RouteOptions } from 'fastify'
import { getLocale } from '../http/locale.js'
import { isApiPath } from '../http/request-path.js'
import type { OrderStore } from '../order-store/order-store.js'
import { buildFreshnessView } from '../portal/freshness-view.js'

const AS_OF = {
  'orders-as-of': {
    type: 'string',
    format: 'date-time',
    description:
      'With NocoDB only: the orders are shown as they were in NocoDB at this time. Absent until the first load is complete.',
  },
}

/** Adds the header to the documented responses of a route. */
function documentHeader({ schema }: RouteOptions): void {
  if (schema?.tags === undefined || schema.response === undefined) return
  const responses = Object.entries(schema.response as Record<string, { headers?: object }>)
  schema.response = Object.fromEntries(
    responses.map(([status, response]) => {
      const headers = { ...response.headers, ...AS_OF }
      return [status, { ...response, headers }]
    }),
  )
}

/**
 * Shows how current the orders of a replica are, on all routes of a scope: in the `orders-as-of`
 * header, and on pages while the replica is behind.
 */
export function addFreshnessHeaders(
  app: FastifyInstance,
  store: Pick<OrderStore, 'getFreshness'>,
  timeZone: string,
): void {
  app.addHook('onRoute', documentHeader)
  app.addHook('onRequest', async (request, reply) => {
    const freshness = store.getFreshness()
    if (freshness === null) return
    if (freshness.asOf !== null) void reply.header('orders-as-of', freshness.asOf)
    if (isApiPath(request.url)) return
    const locale = getLocale(request.headers['accept-language'])
    const buildView = () =>
      buildFreshnessView(store.getFreshness(), { locale, timeZone, now: Date.now() })
    reply.outOfBand = {
      template: 'portal/_freshness-part',
      getData: () => ({ freshness: buildView() }),
    }
  })
}
