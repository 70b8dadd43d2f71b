import type { FastifyPluginAsync } from 'fastify'
import { Problem } from '../http/problem.js'
import { documentedRoutes } from './documented-routes.js'
import { addProxyGuard } from './proxy-guard.js'
import { RELAYED_METHODS, type PublicRoutes } from './public-routes.js'
import { MOUNT } from './upstream-path.js'

/** Answers in the place of an order source that there is none: 503, to whoever may ask. */
const notConfigured: FastifyPluginAsync<{ publicRoutes: PublicRoutes }> = async (
  scope,
  { publicRoutes },
) => {
  const handler = async () => {
    throw new Problem(503, 'No order source is configured.')
  }
  addProxyGuard(scope, publicRoutes)
  scope.addHook('preParsing', handler)
  for (const { method, url, schema } of documentedRoutes(publicRoutes)) {
    scope.route({ method, url: MOUNT + url, schema, handler })
  }
  for (const url of [MOUNT, `${MOUNT}/*`]) scope.route({ method: RELAYED_METHODS, url, handler })
}

export default notConfigured
