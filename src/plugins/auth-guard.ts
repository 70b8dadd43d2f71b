import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { decodePath } from '../http/request-path.js'
import { isAdminPath, isInAdminScope, canMatchAdminPath } from '../http/admin-scope.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Everybody may come here, though the address is in the administrators' area */
    openToAll?: true
  }
}

/** What a route for administrators says of itself in the documentation. */
export const ADMIN_SECURITY = [{ bearer: [] }, { cookie: [] }]

/**
 * Closes the administrators' area, by construction: every route under /admin and /api/admin that
 * is added from here on asks for an administrator, unless it declares itself open, and so does
 * what is not there: no stranger learns which addresses exist. Whoever is refused counts as a
 * request first.
 */
export default fp(
  async (app) => {
    const limitOfAll = app.rateLimit()
    const guardNothing = async (request: FastifyRequest, reply: FastifyReply) => {
      reply.header('cache-control', 'no-store')
      await limitOfAll.call(app, request, reply)
      await app.requireAdministrator.call(app, request, reply)
    }
    /** Addresses that strangers know; with another method, too, they may be told what they are. */
    const open = new Set<string | null>()
    const isClosed = ({ is404, url }: FastifyRequest): boolean =>
      is404 && isInAdminScope(url) && !open.has(decodePath(url))
    // Every request passes here and in the errors plugin, so neither waits where it has no concern.
    app.addHook('onRequest', (request, reply, done) => {
      if (!isClosed(request)) done()
      else guardNothing(request, reply).then(() => done(), done)
    })

    app.addHook('onRoute', (route) => {
      const isOurs = isAdminPath(route.url)
      if (route.config?.openToAll) open.add(route.url)
      if (route.config?.openToAll || !(isOurs || canMatchAdminPath(route.url))) return

      const { rateLimit } = route.config ?? {}
      const limit = rateLimit === false ? null : app.rateLimit(rateLimit)
      const guard: onRequestAsyncHookHandler = async function (request, reply) {
        if (!isOurs && !isInAdminScope(request.url)) return
        await limit?.call(this, request, reply)
        await app.requireAdministrator.call(this, request, reply)
      }
      // In front of the route's own, none of which may run for a stranger.
      route.onRequest = [guard, ...[route.onRequest ?? []].flat()]
      if (isOurs && route.schema) {
        route.schema = { security: ADMIN_SECURITY, ...route.schema }
      }
    })
  },
  { name: 'auth-guard', dependencies: ['session', 'rate-limits'] },
)
