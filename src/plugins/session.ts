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
import {
  SESSION_SECONDS,
  createSessionTokens,
  type AdminSession,
} from '../accounts/session-token.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** `onRequest` hook that requires an administrator; throws 401 or 403. */
    requireAdministrator: onRequestAsyncHookHandler
  }
  interface FastifyRequest {
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

const createUnauthorizedProblem = (): Problem =>
  new Problem(401, 'Sign in to continue.', {
    headers: { 'www-authenticate': 'Bearer' },
  })

const CROSS_ORIGIN_API_REQUEST =
  'A request with a session cookie must come from the same origin. Send the token as “Authorization: Bearer” instead, or an Origin header with the address of this service.'
const CROSS_ORIGIN_FORM = 'The form was sent from another site. Nothing was changed.'

const createNotPersistedProblem = (): Problem =>
  new Problem(
    503,
    'You are signed out, but this could not be saved: the session becomes valid again if the service restarts before it expires. Tell the operator of the service.',
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

    /** An Authorization header takes precedence over the cookie, even if it is invalid. */
    function getToken({ headers, cookies }: FastifyRequest): string | undefined {
      const { authorization } = headers
      if (authorization === undefined) return cookies[cookieName]
      return /^bearer +(\S+)$/i.exec(authorization)?.[1]
    }

    app.decorate('requireAdministrator', async (request) => {
      const session = tokens.verify(getToken(request) ?? '')
      if (session === null || (await app.stateStore.has(getRevocationKey(session)))) {
        throw createUnauthorizedProblem()
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
      if (failure) throw failure
    })
  },
  { name: 'session', dependencies: ['config', 'error-handler', 'accounts', 'state-store'] },
)
