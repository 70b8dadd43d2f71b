import formbody from '@fastify/formbody'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { toSafeRedirectPath } from '../http/safe-redirect-path.js'
import { Problem } from '../http/problem.js'
import { sessionCookie } from './session.js'

/** The most that a form of ours can hold, escaped for its way here. */
const LARGEST_FORM = 128 * 1024

const isHtmx = ({ headers }: FastifyRequest): boolean => headers['hx-request'] === 'true'

/** An address without the fields that were left blank. */
function withoutBlanks({ pathname, searchParams }: URL): string {
  const filled = new URLSearchParams([...searchParams].filter(([, value]) => value !== ''))
  return filled.size === 0 ? pathname : `${pathname}?${filled.toString()}`
}

/**
 * Where a reader wanted to go: the page itself, or the one where a part of it was asked for or a
 * form sent. The same page with another query, such as a search, is where they would be now.
 */
function pageOf(request: FastifyRequest): string {
  const { headers, method, url } = request
  const from = headers['hx-current-url'] ?? headers.referer
  // Not every address can have paths of its own: one of a script has none.
  const current = typeof from === 'string' && URL.canParse(url, from) ? new URL(from) : null
  if (current === null || (method === 'GET' && !isHtmx(request))) return url
  const asked = new URL(url, current)
  return method === 'GET' && asked.pathname === current.pathname
    ? withoutBlanks(asked)
    : current.pathname + current.search
}

/** The login, from where one comes back to where one wanted to go. */
const loginFor = (request: FastifyRequest, told: Record<string, string> = {}): string =>
  `/admin/login?${new URLSearchParams({ to: toSafeRedirectPath(pageOf(request)), ...told }).toString()}`

/**
 * What the pages of administrators have in common, in the scope that registers this: they read
 * forms, are never kept by a browser or a proxy, and lead whoever is not logged in to the login.
 */
export default fp(
  async (app) => {
    const cookieName = sessionCookie(app.publicBaseUrl())
    await app.register(formbody, { bodyLimit: LARGEST_FORM })
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store')
      done()
    })
    app.setErrorHandler(async (error, request, reply) => {
      if (!(error instanceof Problem) || error.statusCode !== 401) throw error
      const isLook = request.method === 'GET' || request.method === 'HEAD'
      // Parts of pages are asked for by pages, which nobody sees without a session.
      const hadSession = isHtmx(request) || cookieName in request.cookies
      const login = loginFor(request, isLook && hadSession ? { ended: '' } : {})
      if (isLook && !isHtmx(request)) return reply.redirect(login, 303)
      // htmx would follow a redirect and put the login in the place of a part of the page.
      if (isLook) reply.header('hx-redirect', login)
      // What was typed stays on the page, or one step back: nobody is led away from it.
      return reply
        .code(401)
        .hypermedia(
          { page: 'portal/session-ended', fragment: 'portal/_session-ended-part' },
          { login },
        )
    })
  },
  { name: 'admin-pages', dependencies: ['session', 'htmx', 'security'] },
)
