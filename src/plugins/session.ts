import cookie, { type CookieSerializeOptions } from '@fastify/cookie'
import jwt from '@fastify/jwt'
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { deriveKey } from '../config/derive-key.js'
import { NotPersistedError } from '../state-store/key-value-store.js'
import { isApiPath } from '../http/request-path.js'
import type { AdminAccount } from '../config/admin-accounts.js'
import { Problem } from '../http/problem.js'
import { isUnsafeMethod, getRequestOrigin } from '../http/fetch-metadata.js'
import type { ApiKeyScope } from '../accounts/permissions.js'
import { isKey } from '../integrations/api-keys/key-format.js'
import type { ApiKey } from '../integrations/api-keys/api-key-store.js'
import {
  SESSION_SECONDS,
  createSessionTokens,
  type AdminSession,
} from '../accounts/session-token.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * `onRequest` hook that requires an administrator, or an API key with the permission of the
     * route. Throws 401, 403 or 429.
     */
    requireAdministrator: onRequestAsyncHookHandler
  }
  interface FastifyContextConfig {
    /** What an API key needs to call the route, or its method; without it, none can */
    permission?: ApiKeyScope | ((method: string) => ApiKeyScope)
  }
  interface FastifyRequest {
    /** Who makes the request, for the history: an email, or an API key by its name */
    readonly actor: string
    /** The current user; only set behind `requireAdministrator` */
    readonly administrator: Administrator
    /** The current user, or `null` if the request was not authenticated */
    readonly knownAdministrator: Administrator | null
    /** The current session; only set behind `requireAdministrator` */
    readonly adminSession: AdminSession
  }
  interface FastifyReply {
    /** Starts a session and sets its cookie. */
    startSession(account: AdminAccount): AdminSession & { token: string }
    /**
     * Revokes the current session in every process. Throws a Problem (503) if a restart may undo
     * that, or if it failed.
     */
    endSession(): Promise<void>
    /** Clears the session cookie. */
    clearSessionCookie(): void
  }
}

export interface Administrator {
  email: string
}

const ISSUER = 'clearwake'

/** Keep revocations past the session's expiry, to allow for clock skew and clocks that are set back. */
const MAX_CLOCK_SKEW_MS = 24 * 60 * 60 * 1000

/** Name of the session cookie. */
export const getSessionCookieName = (baseUrl: string): string =>
  baseUrl.startsWith('https:') ? '__Host-clearwake' : 'clearwake'

const parseBearer = (authorization = ''): string | undefined =>
  /^bearer +(\S+)$/i.exec(authorization)?.[1]

/** Says what a program or a user has to do, but not why a key or token is not valid. */
function createUnauthorizedProblem({ headers, url }: FastifyRequest): Problem {
  const isGiven = parseBearer(headers.authorization) !== undefined
  const detail = isGiven
    ? 'The API key or token is not valid: it is wrong, expired or revoked.'
    : 'Send an API key or a token in the header “Authorization: Bearer”.'
  return new Problem(401, isApiPath(url) ? detail : 'Sign in to continue.', {
    headers: { 'www-authenticate': isGiven ? 'Bearer error="invalid_token"' : 'Bearer' },
  })
}

const createForbiddenProblem = (permission: ApiKeyScope | undefined): Problem => {
  const scope = permission === undefined ? '' : `, scope="${permission}"`
  return new Problem(
    403,
    permission === undefined
      ? 'This operation is not available to API keys.'
      : `This API key does not have the scope ${permission}.`,
    { headers: { 'www-authenticate': `Bearer error="insufficient_scope"${scope}` } },
  )
}

const MINUTE_MS = 60_000

const CROSS_ORIGIN_API_REQUEST =
  'A request with a session cookie must come from the same origin. Send the token as “Authorization: Bearer” instead, or an Origin header with the origin of this service.'
const CROSS_ORIGIN_FORM = 'The form was sent from another site. Nothing was changed.'

const createNotPersistedProblem = (): Problem =>
  new Problem(
    503,
    'You are signed out, but the sign-out could not be saved: if the service restarts before the session expires, the session becomes valid again. Contact the operator of this service.',
  )

const getRevocationKey = (session: AdminSession): string => `ended:${session.id}`

/** Sessions of administrators: a JWT in a cookie, or as a bearer token. */
export default fp(
  async (app) => {
    const [secret] = app.config.sessionSecrets
    const cookieName = getSessionCookieName(app.publicBaseUrl())
    const cookieOptions: CookieSerializeOptions = {
      path: '/',
      httpOnly: true,
      sameSite: 'strict',
      secure: app.publicBaseUrl().startsWith('https:'),
    }
    await app.register(cookie)
    await app.register(jwt, {
      secret: deriveKey(secret, 'session v1'),
      sign: { algorithm: 'HS256', expiresIn: SESSION_SECONDS, iss: ISSUER },
      verify: {
        algorithms: ['HS256'],
        allowedIss: ISSUER,
        requiredClaims: ['iss', 'sub', 'jti', 'iat', 'exp', 'mark'],
      },
    })
    const tokens = createSessionTokens(app, secret)
    const sessions = new WeakMap<FastifyRequest, AdminSession>()
    const keys = new WeakMap<FastifyRequest, ApiKey>()

    /** An Authorization header takes precedence over the cookie, even if it is invalid. */
    function getToken({ headers, cookies }: FastifyRequest): string | undefined {
      const { authorization } = headers
      if (authorization === undefined) return cookies[cookieName]
      return parseBearer(authorization)
    }

    async function requireApiKey(request: FastifyRequest, token: string): Promise<void> {
      const key = await app.apiKeys.authenticate(token)
      if (key === null) throw createUnauthorizedProblem(request)
      const budget = { limit: app.config.API_KEY_LIMIT_PER_MINUTE, windowMs: MINUTE_MS }
      const waitMs = await app.stateStore.consume(`api-key:${key.id}`, budget)
      if (waitMs > 0) {
        throw new Problem(429, 'Too many requests with this API key.', {
          headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
        })
      }
      const { permission: declared } = request.routeOptions.config
      const permission = typeof declared === 'function' ? declared(request.method) : declared
      const isAllowed = permission !== undefined && key.scopes.includes(permission)
      // Unknown paths are not found, whatever the scopes.
      if (!isAllowed && !request.is404) throw createForbiddenProblem(permission)
      keys.set(request, key)
    }

    app.decorate('requireAdministrator', async (request) => {
      const token = getToken(request) ?? ''
      if (request.headers.authorization !== undefined && isKey(token)) {
        await requireApiKey(request, token)
        return
      }
      const session = tokens.verify(token)
      if (session === null || (await app.stateStore.has(getRevocationKey(session)))) {
        throw createUnauthorizedProblem(request)
      }
      const byCookie = request.headers.authorization === undefined
      const origin = getRequestOrigin(request, app.publicBaseUrl())
      if (byCookie && isUnsafeMethod(request.method) && origin !== 'same-origin') {
        throw new Problem(
          403,
          isApiPath(request.url) ? CROSS_ORIGIN_API_REQUEST : CROSS_ORIGIN_FORM,
        )
      }
      sessions.set(request, session)
    })

    function getSession(this: FastifyRequest): AdminSession {
      const session = sessions.get(this)
      if (session === undefined) throw new Error('no administrator on a public route')
      return session
    }
    app.decorateRequest('adminSession', { getter: getSession })
    app.decorateRequest('administrator', {
      getter(this: FastifyRequest): Administrator {
        return { email: this.adminSession.email }
      },
    })

    app.decorateRequest('actor', {
      getter(this: FastifyRequest): string {
        const key = keys.get(this)
        return key === undefined ? this.administrator.email : `API key “${key.name}”`
      },
    })

    app.decorateRequest('knownAdministrator', {
      getter(this: FastifyRequest): Administrator | null {
        return sessions.has(this) ? this.administrator : null
      },
    })

    app.decorateReply('startSession', function (this: FastifyReply, account) {
      const token = tokens.issue(account)
      const session = tokens.verify(token)
      if (session === null) throw new Error('an issued token is not valid')
      this.setCookie(cookieName, token, { ...cookieOptions, expires: session.expiresAt })
      return { ...session, token }
    })
    app.decorateReply('clearSessionCookie', function (this: FastifyReply) {
      this.clearCookie(cookieName, cookieOptions)
    })
    app.decorateReply('endSession', async function (this: FastifyReply) {
      const session = this.request.adminSession
      const remainingMs = Math.max(0, session.expiresAt.getTime() - Date.now())
      const ttlMs = remainingMs + MAX_CLOCK_SKEW_MS
      const stored = app.stateStore.set(getRevocationKey(session), ttlMs)
      const failure = await stored.catch((error: unknown) => {
        if (error instanceof NotPersistedError) return createNotPersistedProblem()
        throw error
      })
      this.clearSessionCookie()
      this.request.log.info({ email: session.email }, 'sign-out')
      await app.auditLog.record(this.request, { action: 'sign_out' })
      if (failure) throw failure
    })
  },
  {
    name: 'session',
    dependencies: ['config', 'error-handler', 'accounts', 'api-keys', 'audit-log', 'state-store'],
  },
)
