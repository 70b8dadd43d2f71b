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
    /** An `onRequest` hook that lets only administrators pass; 401 for everybody else. */
    requireAdministrator: onRequestAsyncHookHandler
  }
  interface FastifyRequest {
    /** Who asks; there is one only behind `requireAdministrator` */
    readonly administrator: Administrator
    /** Who asks, where that was found out; `null` for everybody else */
    readonly knownAdministrator: Administrator | null
    /** The session of who asks; there is one only behind `requireAdministrator` */
    readonly adminSession: AdminSession
  }
  interface FastifyReply {
    /** Logs an administrator in: the answer sets the cookie of a new session. */
    openSession(account: AdminAccount): AdminSession & { token: string }
    /**
     * Logs the administrator who asks out, in every process. Throws a Problem (503) where a restart
     * may undo that, or where it cannot be done.
     */
    endSession(): Promise<void>
    /** The answer takes the session's cookie away. */
    clearSessionCookie(): void
  }
}

export interface Administrator {
  email: string
}

const ISSUER = 'clearwake'

/**
 * What has ended is remembered so much longer than it would have lasted: clocks are set back, and
 * those of several processes and of Redis differ.
 */
const CLOCKS_DIFFER_MS = 24 * 60 * 60 * 1000

/** The name of the session's cookie, in the documentation too. */
export const sessionCookie = (baseUrl: string): string =>
  baseUrl.startsWith('https:') ? '__Host-clearwake' : 'clearwake'

/** 401, with what a client must do. */
const notLoggedIn = (): Problem =>
  new Problem(401, 'Only administrators may do this: log in first.', {
    headers: { 'www-authenticate': 'Bearer' },
  })

/** What a call with a cookie is told that no page of ours has made. */
const FOREIGN_CALL =
  'With a cookie this is taken from our own pages only: send the token as “Authorization: Bearer” instead, or an Origin header with the address of this service.'
/** The same for a form. */
const FOREIGN_FORM = 'This did not come from a page of this service, so nothing was done.'

/** 503 for a logout that a restart may undo. */
const notKept = (): Problem =>
  new Problem(
    503,
    'You are logged out, but this could not be written down: if the service is restarted before it can be, the session counts again until its time is over. Tell those who run the service.',
  )

const endedKey = (session: AdminSession): string => `ended:${session.id}`

/** Who is an administrator: a JWT in a cookie of ours, or as a bearer token. */
export default fp(
  async (app) => {
    const [secret] = app.config.sessionSecrets
    const cookieName = sessionCookie(app.publicBaseUrl())
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

    /** A header that is no bearer token is a failure; the cookie does not make up for it. */
    function presentedToken({ headers, cookies }: FastifyRequest): string | undefined {
      const { authorization } = headers
      if (authorization === undefined) return cookies[cookieName]
      return /^bearer +(\S+)$/i.exec(authorization)?.[1]
    }

    app.decorate('requireAdministrator', async (request) => {
      const session = tokens.read(presentedToken(request) ?? '')
      if (session === null || (await app.sharedMemory.remembers(endedKey(session)))) {
        throw notLoggedIn()
      }
      const byCookie = request.headers.authorization === undefined
      const provenance = getRequestOrigin(request, app.publicBaseUrl())
      if (byCookie && isUnsafeMethod(request.method) && provenance !== 'own') {
        throw new Problem(403, isApiPath(request.url) ? FOREIGN_CALL : FOREIGN_FORM)
      }
      sessions.set(request, session)
    })

    function sessionOf(this: FastifyRequest): AdminSession {
      const session = sessions.get(this)
      if (session === undefined) throw new Error('asked who it is where anybody may come')
      return session
    }
    app.decorateRequest('adminSession', { getter: sessionOf })
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

    app.decorateReply('openSession', function (this: FastifyReply, account) {
      const token = tokens.issue(account)
      const session = tokens.read(token)
      if (session === null) throw new Error('a token of our own is not valid')
      this.setCookie(cookieName, token, { ...cookieOptions, expires: session.expiresAt })
      return { ...session, token }
    })
    app.decorateReply('clearSessionCookie', function (this: FastifyReply) {
      this.clearCookie(cookieName, cookieOptions)
    })
    app.decorateReply('endSession', async function (this: FastifyReply) {
      const session = this.request.adminSession
      const lastsMs = Math.max(0, session.expiresAt.getTime() - Date.now())
      const kept = app.sharedMemory.remember(endedKey(session), lastsMs + CLOCKS_DIFFER_MS)
      const failure = await kept.catch((error: unknown) => {
        if (error instanceof NotPersistedError) return notKept()
        throw error
      })
      this.clearSessionCookie()
      this.request.log.info({ email: session.email }, 'logout')
      if (failure) throw failure
    })
  },
  { name: 'session', dependencies: ['config', 'errors', 'accounts', 'state-store'] },
)
