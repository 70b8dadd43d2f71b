import cookie, { type CookieSerializeOptions } from '@fastify/cookie'
import jwt from '@fastify/jwt'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { deriveKey } from '../core/config/secrets.js'
import { getRequestOrigin, isUnsafeMethod } from '../core/http/fetch-metadata.js'
import { createLimitProblem, Problem } from '../core/http/problem.js'
import { isApiPath } from '../core/http/request-path.js'
import { HOUR_MS, MINUTE_MS } from '../core/time.js'
import type { Account } from './account-store.js'
import { isKey, type ApiKey } from './api-keys/api-key-store.js'
import type { Role } from './permissions.js'
import { createSessions, type Session, type Sessions } from './session-store.js'
import { createSessionTokens } from './sign-in-cookies.js'

/** A person who is signed in. */
export interface User {
  type: 'user'
  email: string
  /** The role at the time of the request */
  role: Role
  session: Session
}

/** Who makes a request. */
type Principal = User | { type: 'api_key'; key: ApiKey }

/** The user who makes a request; `null` for guests and API keys. */
export const findUser = ({ principal }: FastifyRequest): User | null =>
  principal?.type === 'user' ? principal : null

/** The user who makes a request. Throws for guests and API keys, whom the guard does not let in. */
export function getUser(request: FastifyRequest): User {
  const user = findUser(request)
  if (user === null) throw new Error('no user makes this request')
  return user
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Identifies the user or the API key of a request. Throws a Problem: 401, 403 or 429. */
    authenticate: (request: FastifyRequest) => Promise<void>
    sessions: Sessions
  }
  interface FastifyRequest {
    /** Who makes the request; `null` for guests, and before `authenticate` */
    principal: Principal | null
  }
  interface FastifyReply {
    /** Starts a session and sets its cookie. The session of the previous cookie ends. */
    startSession(account: Account, isMultiFactor: boolean): Promise<Session & { token: string }>
    /** Ends the current session in every process, and clears its cookie. */
    endSession(): Promise<void>
    clearSessionCookie(): void
  }
}

const ISSUER = 'clearwake'

/** Header of requests that a page sends by itself. They do not extend the session. */
const BACKGROUND_HEADER = 'clearwake-background'

export const getSessionCookieName = (baseUrl: string): string =>
  baseUrl.startsWith('https:') ? '__Host-clearwake' : 'clearwake'

const parseBearer = (authorization = ''): string | undefined =>
  /^bearer +(\S+)$/i.exec(authorization)?.[1]

/** Explains what the client or user has to do, but not why a key or token is not valid. */
function createUnauthorizedProblem({ headers, url }: FastifyRequest): Problem {
  const isGiven = parseBearer(headers.authorization) !== undefined
  const detail = isGiven
    ? 'The API key or token is not valid: it is wrong, expired or revoked.'
    : 'Send an API key or a token in the header “Authorization: Bearer”.'
  return new Problem(401, isApiPath(url) ? detail : 'Sign in to continue.', {
    headers: { 'www-authenticate': isGiven ? 'Bearer error="invalid_token"' : 'Bearer' },
  })
}

const CROSS_ORIGIN_API_REQUEST =
  'A request with a session cookie must come from the same origin. Send the token as “Authorization: Bearer” instead, or an Origin header with the origin of this service.'
const CROSS_ORIGIN_FORM = 'The form was sent from another site. Nothing was changed.'

/**
 * Sessions of administrators, stored in the database. A JWT, in a cookie or as a bearer token,
 * carries the secret of the session.
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

    /** An Authorization header takes precedence over the cookie, even if it is invalid. */
    function getToken({ headers, cookies }: FastifyRequest): string | undefined {
      const { authorization } = headers
      if (authorization === undefined) return cookies[cookieName]
      return parseBearer(authorization)
    }

    /** Does not wait for the write, which takes long while the database is read-only. */
    function recordUse({ log }: FastifyRequest, recorded: Promise<void>): void {
      recorded.catch((err: unknown) =>
        log.warn({ err }, 'use of a session or API key not recorded'),
      )
    }

    async function requireApiKey(request: FastifyRequest, token: string): Promise<void> {
      const key = await app.apiKeys.authenticate(token)
      if (key === null) throw createUnauthorizedProblem(request)
      const budget = { limit: app.config.API_KEY_LIMIT_PER_MINUTE, windowMs: MINUTE_MS }
      const waitMs = await app.stateStore.consume(`api-key:${key.id}`, budget)
      if (waitMs > 0) throw createLimitProblem('Too many requests with this API key.', waitMs)
      request.principal = { type: 'api_key', key }
      recordUse(request, app.apiKeys.touch(key))
    }

    async function findUser(token: string): Promise<User | null> {
      const verified = await tokens.verify(token)
      if (verified === null) return null
      const { secret: sessionSecret, account } = verified
      const session = await sessions.find(sessionSecret, account)
      return session && { type: 'user', email: session.email, role: account.role, session }
    }

    app.decorate('authenticate', async (request) => {
      const token = getToken(request) ?? ''
      if (request.headers.authorization !== undefined && isKey(token)) {
        await requireApiKey(request, token)
        return
      }
      const found = await findUser(token)
      if (found === null) throw createUnauthorizedProblem(request)
      const byCookie = request.headers.authorization === undefined
      const origin = getRequestOrigin(request, app.publicBaseUrl())
      if (byCookie && isUnsafeMethod(request.method) && origin !== 'same-origin') {
        throw new Problem(
          403,
          isApiPath(request.url) ? CROSS_ORIGIN_API_REQUEST : CROSS_ORIGIN_FORM,
        )
      }
      request.principal = found
      if (request.headers[BACKGROUND_HEADER] === undefined) {
        recordUse(request, sessions.touch(found.session))
      }
    })

    app.decorateRequest('principal', null)
    app.decorateRequest('actor', {
      getter(this: FastifyRequest): string {
        const { principal } = this
        return principal?.type === 'api_key'
          ? `API key “${principal.key.name}”`
          : getUser(this).email
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
      const previous = await findUser(cookies[cookieName] ?? '')
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
      const { email, session } = getUser(this.request)
      await sessions.end(email, session.id)
      this.clearSessionCookie()
      this.request.log.info({ email }, 'sign-out')
      await app.auditLog.record(this.request, { action: 'sign_out' })
    })
  },
  {
    name: 'session',
    dependencies: ['config', 'error-handler', 'database', 'scheduler', 'audit-log', 'state-store'],
  },
)
