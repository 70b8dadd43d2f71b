import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import auditLog from '../audit/audit.js'
import { createIdentifierHasher, type HashIdentifier } from '../core/config/secrets.js'
import flash from '../core/html/flash.js'
import {
  canMatchAdminPath,
  decodePath,
  isAdminPath,
  isInAdminScope,
} from '../core/http/request-path.js'
import { createAccountStore, type AccountStore } from './account-store.js'
import { createApiKeyStore, type ApiKeyStore } from './api-keys/api-key-store.js'
import { createPasswords, type Passwords } from './password.js'
import { toApiKeyScope, type ApiKeyScope } from './permissions.js'
import portalExtensions from './portal-extensions.js'
import permissions from './require-permission.js'
import session from './session.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Accessible without sign-in, although the route is in the admin scope */
    public?: true
  }
}

/** OpenAPI security of a route that requires a user, or an API key with a scope. */
export const getAdminSecurity = (scope?: ApiKeyScope) => [
  ...(scope === undefined ? [] : [{ apiKey: [scope] }]),
  { bearer: [] },
  { cookie: [] },
]

/**
 * The admin guard. It covers every route under /admin and /api/admin that is registered after this
 * plugin. Such a route requires a user or an API key with the permission that the route declares,
 * unless it is declared public. A route that declares neither cannot be registered. Paths that do
 * not exist also require a user or an API key, so that they cannot be probed. Rejected requests
 * count towards the rate limit.
 */
const authGuard = fp(
  async (app) => {
    const limitRequests = app.rateLimit()
    const guardNotFound = async (request: FastifyRequest, reply: FastifyReply) => {
      reply.header('cache-control', 'no-store')
      await limitRequests.call(app, request, reply)
      await app.requireAdministrator.call(app, request, reply)
    }
    /** Paths of public routes. Anyone may learn that another method is not allowed (405). */
    const publicPaths = new Set<string | null>()
    const isGuarded = ({ is404, url }: FastifyRequest): boolean =>
      is404 && isInAdminScope(url) && !publicPaths.has(decodePath(url))
    app.addHook('onRequest', (request, reply, done) => {
      if (!isGuarded(request)) done()
      else guardNotFound(request, reply).then(() => done(), done)
    })

    app.addHook('onRoute', (route) => {
      const isAdminRoute = isAdminPath(route.url)
      if (route.config?.public) publicPaths.add(route.url)
      if (route.config?.public || !(isAdminRoute || canMatchAdminPath(route.url))) return

      const { permission, rateLimit } = route.config ?? {}
      if (permission === undefined) {
        throw new Error(`${String(route.method)} ${route.url} declares no permission`)
      }
      const limit = rateLimit === false ? null : app.rateLimit(rateLimit)
      const guard: onRequestAsyncHookHandler = async function (request, reply) {
        if (!isAdminRoute && !isInAdminScope(request.url)) return
        await limit?.call(this, request, reply)
        await app.requireAdministrator.call(this, request, reply)
      }
      // Before the route's own hooks, none of which may run for an unauthenticated request.
      route.onRequest = [guard, ...[route.onRequest ?? []].flat()]
      if (isAdminRoute && route.schema) {
        const scope = typeof permission === 'function' ? undefined : toApiKeyScope(permission)
        route.schema = { security: getAdminSecurity(scope), ...route.schema }
      }
    })
  },
  { name: 'auth-guard', dependencies: ['permissions', 'rate-limits'] },
)

declare module 'fastify' {
  interface FastifyInstance {
    /** User accounts from ADMIN_ACCOUNTS and from the database */
    accounts: AccountStore
    /** The API keys of integrations */
    apiKeys: ApiKeyStore
    hashIdentifier: HashIdentifier
    passwords: Passwords
  }
}

/** Who may do what: accounts, sessions, API keys and permissions, and the log of what they did. */
export default fp(
  async (app) => {
    app.decorate('accounts', createAccountStore(app.database, app.configuredAccounts))
    app.decorate('apiKeys', createApiKeyStore(app.database))
    app.decorate('hashIdentifier', createIdentifierHasher(app.config.sessionSecrets[0]))
    app.decorate('passwords', createPasswords(app))
    await app.register(auditLog)
    await app.register(session)
    await app.register(permissions)
    await app.register(portalExtensions)
    await app.register(flash)
    await app.register(authGuard) // before the features, because it guards their routes
  },
  { name: 'security', dependencies: ['configured-accounts', 'database'] },
)
