import type { FastifyInstance, RouteOptions } from 'fastify'
import type { OrderStore } from './store/order-store.js'

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
 * Adds the `orders-as-of` header to all responses of a scope: the time at which they last
 * matched NocoDB.
 */
export function addFreshnessHeader(
  app: FastifyInstance,
  store: Pick<OrderStore, 'getFreshness'>,
): void {
  app.addHook('onRoute', documentHeader)
  app.addHook('onRequest', async (_request, reply) => {
    const asOf = store.getFreshness()?.asOf
    if (asOf != null) void reply.header('orders-as-of', asOf)
  })
}
