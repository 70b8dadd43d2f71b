import type { FastifyPluginAsync } from 'fastify'
import notConfigured from './not-configured.js'
import { parsePublicRoutes } from './public-routes.js'
import routes from './proxy-routes.js'
import type { Upstream } from './upstream.js'

/** The relay to the order source; without one, the same addresses say that there is none. */
const relay: FastifyPluginAsync<{ upstream: Upstream | null }> = async (app, { upstream }) => {
  const publicRoutes = parsePublicRoutes(app.config.ORDERSOURCE_PUBLIC_ROUTES) ?? new Set()
  // Never a reason not to serve: calculators and orders go on without it.
  app.readiness.set('orderSource', async () => ({
    ready: true,
    detail: upstream === null ? 'not configured' : upstream.state(),
  }))
  if (upstream === null) await app.register(notConfigured, { publicRoutes })
  else await app.register(routes, { upstream, publicRoutes })
}

export default relay
