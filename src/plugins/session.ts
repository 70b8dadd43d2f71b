import cookie, { type CookieSerializeOptions } from '@fastify/cookie'
import jwt from '@fastify/jwt'
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { deriveKey } from '../config/derive-key.js'
import { isApiPath } from '../http/request-path.js'
import { RecentSignInRequired, SecondFactorRequired } from '../http/authentication-problems.js'
import { Problem } from '../http/problem.js'
import { isUnsafeMethod, getRequestOrigin } from '../http/fetch-metadata.js'
import {
  hasPermission,
  hasScope,
  SENSITIVE_PERMISSIONS,
  toApiKeyScope,
  type Permission,
  type Role,
} from '../accounts/permissions.js'
import type { Account } from '../accounts/account-store.js'
import { isKey } from '../integrations/api-keys/key-format.js'
import type { ApiKey } from '../integrations/api-keys/api-key-store.js'
import { createSessionTokens } from '../accounts/session-token.js'
import { createSessions, type Session, type Sessions } from '../accounts/sessions.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * `onRequest` hook that requires a user or an API key with the permission of the route. Throws
     * 401, 403 or 429.
     */
    requireAdministrator: onRequestAsyncHookHandler
    /** The same without a permission, to recognise users on public pages */
    authenticate: (request: FastifyRequest) => Promise<void>
    sessions: Sessions
  }
  interface FastifyContextConfig {
    /** What a user or an API key needs to call the route, or its method */
    permission?: Permission | ((method: string) => Permission)
    /** Calls `requireRecentSignIn`; the default for changes that require a sensitive permission */
    recentSignIn?: boolean
    /** Accessible before a required second factor is set up */
    withoutSecondFactor?: true
  }
  interface FastifyRequest {
    /** Whether the user or the API key has a permission; `false` if there is none */
    can(permission: Permission): boolean
    /** Throws a Problem (403) unless the user or the API key has a permission. */
    requirePermission(permission: Permission): void
    /**
     * Throws a Problem (403) if the user has neither signed in nor confirmed the session within the
     * last minutes. API keys need not.
     */
    requireRecentSignIn(): void
    /** Who makes the request, for the history: an email, or an API key by its name */
    readonly actor: string
    /** The current user; only set behind `requireAdministrator` */
    readonly administrator: Administrator
    /** The current user, or `null` if the request was not authenticated */
    readonly knownAdministrator: Administrator | null
    /** The current session; only set behind `requireAdministrator` */
    readonly adminSession: Session
  }
  interface FastifyReply {
    /** Starts a session and sets its cookie. The session of the previous cookie ends. */
    startSession(account: Account, isMultiFactor: boolean): Promise<Session & { token: string }>
    /** Ends the current session in every process, and clears its cookie. */
    endSession(): Promise<void>
    /** Clears the session cookie. */
    clearSessionCookie(): void
  }
}

/** The current user. */
export interface Administrator {
  email: string
  role: Role
}

interface CurrentSession {
  session: Session
  /** As of this request */
  role: Role
}

const ISSUER = 'clearwake'

/** Marks requests that a page sends by itself: they do not extend the session. */
const BACKGROUND_HEADER = 'clearwake-background'

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

const MINUTE_MS = 60_000
const RECENT_MS = 10 * MINUTE_MS
/** Longer, so that a form that could be opened can be sent, too */
const RECENT_FOR_FORMS_MS = 30 * MINUTE_MS
const HOUR_MS = 60 * MINUTE_MS

const CROSS_ORIGIN_API_REQUEST =
  'A request with a session cookie must come from the same origin. Send the token as “Authorization: Bearer” instead, or an Origin header with the origin of this service.'
const CROSS_ORIGIN_FORM = 'The form was sent from another site. Nothing was changed.'

/**
 * Sessions of administrators: rows of the database. A JWT, in a cookie or as a bearer token, carries
 * the secret of the session.
 */
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
      sign: { algorithm: 'HS256', iss: ISSUER },
      verify: {
        algorithms: ['HS256'],
        allowedIss: ISSUER,
        requiredClaims: ['iss', 'sub', 'jti', 'iat', 'exp', 'mark'],
      },
    })
    const tokens = createSessionTokens(app, secret)
    const sessions = createSessions(app.database)
    app.decorate('sessions', sessions)
    app.schedule('delete expired sessions', HOUR_MS, () => sessions.deleteExpired())
    const current = new WeakMap<FastifyRequest, CurrentSession>()
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
      keys.set(request, key)
    }

    async function findSession(token: string): Promise<CurrentSession | null> {
      const verified = await tokens.verify(token)
      if (verified === null) return null
      const session = await sessions.find(verified.secret, verified.account)
      return session && { session, role: verified.account.role }
    }

    /** Does not wait: a database that can only be read would delay every request. */
    function recordUse(request: FastifyRequest, session: Session): void {
      if (request.headers[BACKGROUND_HEADER] !== undefined) return
      sessions
        .touch(session)
        .catch((err: unknown) => request.log.warn({ err }, 'use of a session not recorded'))
    }

    function requireSecondFactor(request: FastifyRequest, session: Session): void {
      const isExempt = session.isMultiFactor || request.routeOptions.config.withoutSecondFactor
      if (app.config.REQUIRE_SECOND_FACTOR && !isExempt) throw new SecondFactorRequired()
    }

    app.decorate('authenticate', async (request) => {
      const token = getToken(request) ?? ''
      if (request.headers.authorization !== undefined && isKey(token)) {
        await requireApiKey(request, token)
        return
      }
      const found = await findSession(token)
      if (found === null) throw createUnauthorizedProblem(request)
      const byCookie = request.headers.authorization === undefined
      const origin = getRequestOrigin(request, app.publicBaseUrl())
      if (byCookie && isUnsafeMethod(request.method) && origin !== 'same-origin') {
        throw new Problem(
          403,
          isApiPath(request.url) ? CROSS_ORIGIN_API_REQUEST : CROSS_ORIGIN_FORM,
        )
      }
      requireSecondFactor(request, found.session)
      current.set(request, found)
      recordUse(request, found.session)
    })

    app.decorateRequest('can', function (permission) {
      const key = keys.get(this)
      if (key !== undefined) return hasScope(key.scopes, permission)
      const role = current.get(this)?.role
      return role !== undefined && hasPermission(role, permission)
    })

    function createForbiddenProblem(request: FastifyRequest, permission?: Permission): Problem {
      return keys.has(request)
        ? createScopeProblem(permission)
        : createRoleProblem(request.administrator.role)
    }
    app.decorateRequest('requirePermission', function (permission) {
      if (!this.can(permission)) throw createForbiddenProblem(this, permission)
    })

    app.decorate('requireAdministrator', async (request) => {
      await app.authenticate(request)
      // Unknown paths are not found, whatever the role or the scopes.
      if (request.is404) return
      const { permission: declared } = request.routeOptions.config
      const permission = typeof declared === 'function' ? declared(request.method) : declared
      const isPage = !isApiPath(request.url)
      if (permission === undefined || (isPage && keys.has(request))) {
        throw createForbiddenProblem(request)
      }
      request.requirePermission(permission)
      const isChange = isUnsafeMethod(request.method)
      const { recentSignIn = isChange && SENSITIVE_PERMISSIONS.has(permission) } =
        request.routeOptions.config
      if (recentSignIn) request.requireRecentSignIn()
    })

    app.decorateRequest('requireRecentSignIn', function () {
      const session = current.get(this)?.session
      const limitMs = isUnsafeMethod(this.method) ? RECENT_FOR_FORMS_MS : RECENT_MS
      if (session && Date.now() - session.authenticatedAt > limitMs) {
        throw new RecentSignInRequired()
      }
    })

    function getCurrent(request: FastifyRequest): CurrentSession {
      const found = current.get(request)
      if (found === undefined) throw new Error('no administrator on a public route')
      return found
    }
    app.decorateRequest('adminSession', {
      getter(this: FastifyRequest): Session {
        return getCurrent(this).session
      },
    })
    app.decorateRequest('administrator', {
      getter(this: FastifyRequest): Administrator {
        const { session, role } = getCurrent(this)
        return { email: session.email, role }
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
        return current.has(this) ? this.administrator : null
      },
    })

    app.decorateReply('startSession', async function (this: FastifyReply, account, isMultiFactor) {
      const { headers, ip, cookies } = this.request
      const client = { userAgent: headers['user-agent'] ?? '', address: ip }
      const { secret: sessionSecret, ...session } = await sessions.start(
        account,
        client,
        isMultiFactor,
      )
      const previous = await findSession(cookies[cookieName] ?? '')
      if (previous !== null) await sessions.end(previous.session.email, previous.session.id)
      const expires = new Date(session.expiresAt)
      const token = tokens.issue(account, { secret: sessionSecret, expiresAt: session.expiresAt })
      this.setCookie(cookieName, token, { ...cookieOptions, expires })
      return { ...session, token }
    })
    app.decorateReply('clearSessionCookie', function (this: FastifyReply) {
      this.clearCookie(cookieName, cookieOptions)
    })
    app.decorateReply('endSession', async function (this: FastifyReply) {
      const { id, email } = this.request.adminSession
      await sessions.end(email, id)
      this.clearSessionCookie()
      this.request.log.info({ email }, 'sign-out')
      await app.auditLog.record(this.request, { action: 'sign_out' })
    })
  },
  {
    name: 'session',
    dependencies: [
      'config',
      'error-handler',
      'account-store',
      'database',
      'scheduler',
      'api-keys',
      'audit-log',
      'state-store',
    ],
  },
)
