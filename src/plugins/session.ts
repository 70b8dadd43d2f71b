import cookie, { type CookieSerializeOptions } from '@fastify/cookie'
import jwt from '@fastify/jwt'
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { deriveKey } from '../config/derive-key.js'
import { isApiPath } from '../http/request-path.js'
import type { AdminAccount } from '../config/admin-accounts.js'
import { RecentSignInRequired, SecondFactorRequired } from '../http/authentication-problems.js'
import { Problem } from '../http/problem.js'
import { isUnsafeMethod, getRequestOrigin } from '../http/fetch-metadata.js'
import type { ApiKeyScope } from '../accounts/permissions.js'
import { isKey } from '../integrations/api-keys/key-format.js'
import type { ApiKey } from '../integrations/api-keys/api-key-store.js'
import { createSessionTokens } from '../accounts/session-token.js'
import { createSessions, type Session, type Sessions } from '../accounts/sessions.js'

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * `onRequest` hook that requires an administrator, or an API key with the permission of the
     * route. Throws 401, 403 or 429.
     */
    requireAdministrator: onRequestAsyncHookHandler
    sessions: Sessions
  }
  interface FastifyContextConfig {
    /** What an API key needs to call the route, or its method; without it, none can */
    permission?: ApiKeyScope | ((method: string) => ApiKeyScope)
    /** Requires that the user has signed in, or confirmed the session, within the last minutes */
    recentSignIn?: true
    /** Accessible before a required second factor is set up */
    withoutSecondFactor?: true
  }
  interface FastifyRequest {
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
    startSession(
      account: AdminAccount,
      isMultiFactor: boolean,
    ): Promise<Session & { token: string }>
    /** Ends the current session in every process, and clears its cookie. */
    endSession(): Promise<void>
    /** Clears the session cookie. */
    clearSessionCookie(): void
  }
}

export interface Administrator {
  email: string
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
    const current = new WeakMap<FastifyRequest, Session>()
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

    async function findSession(token: string): Promise<Session | null> {
      const verified = tokens.verify(token)
      return verified && sessions.find(verified.secret, verified.account)
    }

    /** Does not wait: a database that can only be read would delay every request. */
    function recordUse(request: FastifyRequest, session: Session): void {
      if (request.headers[BACKGROUND_HEADER] !== undefined) return
      sessions
        .touch(session)
        .catch((err: unknown) => request.log.warn({ err }, 'use of a session not recorded'))
    }

    function requireFactors(
      { method, routeOptions: { config } }: FastifyRequest,
      session: Session,
    ) {
      if (
        app.config.REQUIRE_SECOND_FACTOR &&
        !session.isMultiFactor &&
        !config.withoutSecondFactor
      ) {
        throw new SecondFactorRequired()
      }
      const limitMs = isUnsafeMethod(method) ? RECENT_FOR_FORMS_MS : RECENT_MS
      if (config.recentSignIn && Date.now() - session.authenticatedAt > limitMs) {
        throw new RecentSignInRequired()
      }
    }

    app.decorate('requireAdministrator', async (request) => {
      const token = getToken(request) ?? ''
      if (request.headers.authorization !== undefined && isKey(token)) {
        await requireApiKey(request, token)
        return
      }
      const session = await findSession(token)
      if (session === null) throw createUnauthorizedProblem(request)
      const byCookie = request.headers.authorization === undefined
      const origin = getRequestOrigin(request, app.publicBaseUrl())
      if (byCookie && isUnsafeMethod(request.method) && origin !== 'same-origin') {
        throw new Problem(
          403,
          isApiPath(request.url) ? CROSS_ORIGIN_API_REQUEST : CROSS_ORIGIN_FORM,
        )
      }
      requireFactors(request, session)
      current.set(request, session)
      recordUse(request, session)
    })

    function getSession(this: FastifyRequest): Session {
      const session = current.get(this)
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
      if (previous !== null) await sessions.end(previous.email, previous.id)
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
    })
  },
  {
    name: 'session',
    dependencies: [
      'config',
      'error-handler',
      'accounts',
      'database',
      'scheduler',
      'api-keys',
      'state-store',
    ],
  },
)
