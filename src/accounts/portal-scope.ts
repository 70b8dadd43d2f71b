import formbody from '@fastify/formbody'
import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from '../core/http/problem.js'
import { toSafeRedirectPath } from '../core/http/request-path.js'
import { RecentSignInRequired, SecondFactorRequired } from './require-permission.js'
import { getSessionCookieName } from './session.js'

/** Enough for the largest form when it is URL-encoded. */
const MAX_FORM_BYTES = 128 * 1024

/** Enough for a sign-in. Anyone can leave such forms unfinished, and they are kept in memory. */
const MAX_PUBLIC_FORM_BYTES = 32 * 1024

const isHtmx = ({ headers }: FastifyRequest): boolean => headers['hx-request'] === 'true'

/** Path and query without blank fields. */
function removeBlankFields({ pathname, searchParams }: URL): string {
  const filled = new URLSearchParams([...searchParams].filter(([, value]) => value !== ''))
  return filled.size === 0 ? pathname : `${pathname}?${filled.toString()}`
}

/**
 * The page to return to after sign-in: the requested page, or the page that requested a fragment or
 * sent a form. If a fragment belongs to that page but has another query, such as a search, the user
 * returns to the page with the new query.
 */
function getReturnPath(request: FastifyRequest): string {
  const { headers, method, url } = request
  const from = headers['hx-current-url'] ?? headers.referer
  // Some URLs, such as `javascript:`, cannot be a base URL.
  const current = typeof from === 'string' && URL.canParse(url, from) ? new URL(from) : null
  if (current === null || (method === 'GET' && !isHtmx(request))) return url
  const requested = new URL(url, current)
  return method === 'GET' && requested.pathname === current.pathname
    ? removeBlankFields(requested)
    : current.pathname + current.search
}

const getSignInUrl = (request: FastifyRequest, params: Record<string, string> = {}): string =>
  `/admin/login?${new URLSearchParams({ returnTo: toSafeRedirectPath(getReturnPath(request)), ...params }).toString()}`

/** The page where the user can do what an error asks for; `null` for other errors. */
function getPageFor(error: unknown, request: FastifyRequest): string | null {
  if (error instanceof SecondFactorRequired) return '/admin/account/second-factor'
  if (!(error instanceof RecentSignInRequired)) return null
  const returnTo = toSafeRedirectPath(getReturnPath(request))
  return `/admin/confirm?${new URLSearchParams({ returnTo }).toString()}`
}

/**
 * Makes the routes of a scope portal pages: they accept forms, are never cached, and redirect to
 * sign-in when there is no session.
 */
const portalScope = fp(
  async (app) => {
    const cookieName = getSessionCookieName(app.publicBaseUrl())
    await app.register(formbody, { bodyLimit: MAX_FORM_BYTES })
    app.addHook('onRoute', (route) => {
      if (route.config?.public) route.bodyLimit ??= MAX_PUBLIC_FORM_BYTES
    })
    app.addHook('onRequest', (_request, reply, done) => {
      reply.header('cache-control', 'no-store')
      done()
    })
    app.setErrorHandler(async (error, request, reply) => {
      const page = getPageFor(error, request)
      if (page !== null) {
        // htmx would follow a redirect and swap the page into the target.
        return isHtmx(request)
          ? reply.header('hx-redirect', page).code(204).send()
          : reply.redirect(page, 303)
      }
      if (!(error instanceof Problem) || error.statusCode !== 401) throw error
      const isRead = request.method === 'GET' || request.method === 'HEAD'
      // Fragments are requested only by pages that require a session.
      const hadSession = isHtmx(request) || cookieName in request.cookies
      const signInUrl = getSignInUrl(request, isRead && hadSession ? { ended: '' } : {})
      if (isRead && !isHtmx(request)) return reply.redirect(signInUrl, 303)
      // htmx would follow a redirect and swap the sign-in page into the target.
      if (isRead) reply.header('hx-redirect', signInUrl)
      // Do not redirect a form. Its input then stays on the page or, if htmx is not used, on the
      // previous page.
      return reply
        .code(401)
        .renderView(
          { page: 'portal/session-ended', fragment: 'portal/_session-ended-part' },
          { signInUrl },
        )
    })
  },
  { name: 'portal-scope', dependencies: ['session', 'views', 'security-headers'] },
)

/** Registers the pages that features have added to the portal, in one scope. */
export const portalPages: FastifyPluginAsync = async (app) => {
  await app.register(portalScope)
  for (const pages of app.portalPages) await app.register(pages)
}

export default portalScope
