import type { FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { getClientAddress } from '../core/http/client-address.js'
import { isUnsafeMethod } from '../core/http/fetch-metadata.js'
import { Problem } from '../core/http/problem.js'
import { isApiPath } from '../core/http/request-path.js'
import { MINUTE_MS } from '../core/time.js'
import {
  hasPermission,
  hasScope,
  SENSITIVE_PERMISSIONS,
  toApiKeyScope,
  type Permission,
  type Role,
} from './permissions.js'
import { findUser, getUser } from './session.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * `onRequest` hook that requires a user or an API key with the permission of the route. Throws
     * 401, 403 or 429.
     */
    requireAdministrator: onRequestAsyncHookHandler
  }
  interface FastifyContextConfig {
    /** What a user or an API key needs to call the route; can depend on the method */
    permission?: Permission | ((method: string) => Permission)
    /** Calls `requireRecentSignIn`; the default for changes that require a sensitive permission */
    recentSignIn?: boolean
    /** Accessible before a required second factor is set up */
    withoutSecondFactor?: true
  }
  interface FastifyRequest {
    /** Whether the user or the API key has a permission; `false` if there is neither */
    can(permission: Permission): boolean
    /** Throws a Problem (403) unless the user or the API key has a permission. */
    requirePermission(permission: Permission): void
    /** Throws a Problem (403) if the session is neither new nor recently confirmed. API keys pass. */
    requireRecentSignIn(): void
  }
}

const RECENT_MS = 10 * MINUTE_MS
/** Longer, so that a user who could open a form can also submit it */
const RECENT_FOR_FORMS_MS = 30 * MINUTE_MS

const createRoleProblem = (role: Role): Problem =>
  new Problem(403, `Your role, ${role}, does not permit this. Ask an owner for access.`)

const createScopeProblem = (needed: Permission | undefined): Problem => {
  const permission = toApiKeyScope(needed)
  const scope = permission === undefined ? '' : `, scope="${permission}"`
  return new Problem(
    403,
    permission === undefined
      ? 'This operation is not available to API keys.'
      : `This API key does not have the scope ${permission}.`,
    { headers: { 'www-authenticate': `Bearer error="insufficient_scope"${scope}` } },
  )
}

/** Logs the refusal, because the entry of the request does not say who made it. */
function createForbiddenProblem(request: FastifyRequest, needed?: Permission): Problem {
  const { actor } = request
  const details = { actor, client: getClientAddress(request), permission: needed }
  request.log.warn(details, 'permission refused')
  const user = findUser(request)
  return user === null ? createScopeProblem(needed) : createRoleProblem(user.role)
}

/** What users and API keys may do: permissions, the second factor, and recent sign-ins. */
export default fp(
  async (app) => {
    app.addViewContext((request) => ({
      user: findUser(request),
      can: (permission: Permission) => request.can(permission),
    }))

    app.decorateRequest('can', function (permission) {
      const { principal } = this
      if (principal === null) return false
      return principal.type === 'user'
        ? hasPermission(principal.role, permission)
        : hasScope(principal.key.scopes, permission)
    })

    app.decorateRequest('requirePermission', function (permission) {
      if (!this.can(permission)) throw createForbiddenProblem(this, permission)
    })

    app.decorateRequest('requireRecentSignIn', function () {
      const { principal } = this
      if (principal?.type === 'api_key') return
      const limitMs = isUnsafeMethod(this.method) ? RECENT_FOR_FORMS_MS : RECENT_MS
      const { authenticatedAt } = getUser(this).session
      if (Date.now() - authenticatedAt > limitMs) throw new RecentSignInRequired()
    })

    app.decorate('requireAdministrator', async (request) => {
      await app.authenticate(request)
      // Unknown paths get status 404, whatever the role or the scopes.
      if (request.is404) return
      const { config } = request.routeOptions
      const user = findUser(request)
      if (app.config.REQUIRE_SECOND_FACTOR && config.withoutSecondFactor !== true) {
        if (user?.session.isMultiFactor === false) throw new SecondFactorRequired()
      }
      const { permission: declared } = config
      const permission = typeof declared === 'function' ? declared(request.method) : declared
      const isPage = !isApiPath(request.url)
      if (permission === undefined || (isPage && user === null)) {
        throw createForbiddenProblem(request)
      }
      request.requirePermission(permission)
      const isChange = isUnsafeMethod(request.method)
      const { recentSignIn = isChange && SENSITIVE_PERMISSIONS.has(permission) } = config
      if (recentSignIn) request.requireRecentSignIn()
    })
  },
  { name: 'permissions', dependencies: ['config', 'session'] },
)

/** 403: the user has to authenticate again. Portal pages redirect to the page for this. */
export class RecentSignInRequired extends Problem {
  constructor() {
    super(403, 'Sign in again: this requires a recent sign-in.')
  }
}

/** 403: the user has to set up a second factor. Portal pages redirect to the page for this. */
export class SecondFactorRequired extends Problem {
  constructor() {
    super(403, 'This service requires a second factor. Set one up in your account.')
  }
}
