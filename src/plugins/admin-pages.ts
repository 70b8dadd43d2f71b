import formbody from '@fastify/formbody'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ownPath } from './own-path.js'
import { Problem } from './problem.js'

/** The most that a form of ours can hold, escaped for its way here. */
const LARGEST_FORM = 128 * 1024

/** Where a reader was when a part of the page was asked for, or a form sent. */
function pageOf({ headers, method, url }: FastifyRequest): string {
  const from = headers['hx-current-url'] ?? headers.referer
  const current = typeof from === 'string' && URL.canParse(from) ? new URL(from) : null
  const isPage = method === 'GET' && headers['hx-request'] !== 'true'
  return isPage || current === null ? url : current.pathname + current.search
}

/** The login, from where one comes back to where one wanted to go. */
const loginFor = (request: FastifyRequest): string =>
  `/admin/login?${new URLSearchParams({ to: ownPath(pageOf(request)) }).toString()}`

/**
 * What the pages of administrators have in common, in the scope that registers this: they read
 * forms, are never kept by a browser or a proxy, and lead whoever is not logged in to the login.
 */
export default fp(
  async (app) => {
    await app.register(formbody, { bodyLimit: LARGEST_FORM })
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store')
      done()
    })
    app.setErrorHandler(async (error, request, reply) => {
      if (!(error instanceof Problem) || error.statusCode !== 401) throw error
      const login = loginFor(request)
      const isLook = request.method === 'GET' || request.method === 'HEAD'
      const isHtmx = request.headers['hx-request'] === 'true'
      if (isLook && !isHtmx) return reply.redirect(login, 303)
      // htmx would follow a redirect and put the login in the place of a part of the page.
      if (isLook) reply.header('hx-redirect', login)
      // What was typed stays on the page, or one step back: nobody is led away from it.
      return reply
        .code(401)
        .hypermedia(
          { page: 'admin/session-ended', fragment: 'admin/_session-ended-part' },
          { login },
        )
    })
  },
  { name: 'admin-pages', dependencies: ['session', 'hypermedia', 'security'] },
)
