import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { decodedPath } from './address.js'
import {
  isAdministrators,
  isInAdministratorsArea,
  reachesAdministrators,
} from './administrators-area.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Everybody may come here, though the address is in the administrators' area */
    openToAll?: true
  }
}

/** What a route for administrators says of itself in the documentation. */
export const ADMINISTRATORS_ONLY = [{ bearer: [] }, { cookie: [] }]

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
      is404 && isInAdministratorsArea(url) && !open.has(decodedPath(url))
    // Every request passes here and in the errors plugin, so neither waits where it has no concern.
    app.addHook('onRequest', (request, reply, done) => {
      if (!isClosed(request)) done()
      else guardNothing(request, reply).then(() => done(), done)
    })

    app.addHook('onRoute', (route) => {
      const isOurs = isAdministrators(route.url)
      if (route.config?.openToAll) open.add(route.url)
      if (route.config?.openToAll || !(isOurs || reachesAdministrators(route.url))) return

      const { rateLimit } = route.config ?? {}
      const limit = rateLimit === false ? null : app.rateLimit(rateLimit)
      const guard: onRequestAsyncHookHandler = async function (request, reply) {
        if (!isOurs && !isInAdministratorsArea(request.url)) return
        await limit?.call(this, request, reply)
        await app.requireAdministrator.call(this, request, reply)
      }
      // In front of the route's own, none of which may run for a stranger.
      route.onRequest = [guard, ...[route.onRequest ?? []].flat()]
      if (isOurs && route.schema) {
        route.schema = { security: ADMINISTRATORS_ONLY, ...route.schema }
      }
    })
  },
  { name: 'closed-area', dependencies: ['session', 'rate-limits'] },
)
