import type { FastifyInstance, RouteOptions } from 'fastify'
import { isApiPath } from '../http/request-path.js'
import { getLocale } from '../http/locale.js'
import type { OrderStore } from '../order-store/order-store.js'
import { buildFreshnessView } from '../portal/freshness-view.js'

const AS_OF = {
  'orders-as-of': {
    type: 'string',
    format: 'date-time',
    description:
      'Where the orders are in NocoDB: when it had them as they are told here. Absent until they have been taken in once.',
  },
}

/** Names the header in the documentation of a route's answers. */
function documentHeader({ schema }: RouteOptions): void {
  if (schema?.tags === undefined || schema.response === undefined) return
  const answers = Object.entries(schema.response as Record<string, { headers?: object }>)
  schema.response = Object.fromEntries(
    answers.map(([status, answer]) => {
      const headers = { ...answer.headers, ...AS_OF }
      return [status, { ...answer, headers }]
    }),
  )
}

/**
 * Tells with every answer of a scope how old the orders are that it shows, where they are a copy:
 * by the header `orders-as-of`, when NocoDB had them so; and on pages, while it does not keep up.
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
    const view = () =>
      buildFreshnessView(store.getFreshness(), { locale, timeZone, now: Date.now() })
    reply.outOfBand = { template: 'portal/_freshness-part', getData: () => ({ freshness: view() }) }
  })
}
