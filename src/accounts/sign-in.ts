import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import { getClientAddress } from '../http/client-address.js'
import { Problem } from '../http/problem.js'
import { getRequestOrigin } from '../http/fetch-metadata.js'
import type { Account } from './account-store.js'
import type { Role } from './permissions.js'
import type { Session } from './sessions.js'
import type { Credentials } from './credentials.js'
import { createDeviceTokens } from './device-token.js'
import { createSignInLimits } from './sign-in-limits.js'
import { createPasswordCheck } from './password-check.js'
import { createIdentifierHasher } from './hashed-identifier.js'

/** Checks the credentials and starts a session. Throws a Problem: 401, 403, 429 or 503. */
export type SignIn = (
  request: FastifyRequest,
  reply: FastifyReply,
  credentials: Credentials,
) => Promise<Session & { role: Role; token: string }>

type Outcome = 'succeeded' | 'failed' | 'limited' | 'unavailable'

const OUTCOMES: Partial<Record<number, Outcome>> = { 401: 'failed', 429: 'limited' }

/** Recorded failures of emails that no account has. */
const UNKNOWN = 'unknown account'
const UNKNOWN_KEY = 'audit:unknown-account'
const UNKNOWN_BUDGET = { limit: 100, windowMs: 60 * 60 * 1000 }

/** The device cookie is only sent to the sign-in routes. */
const DEVICE_COOKIE_PATHS = ['/api/admin/login', '/admin/login']

/** Sign-in, shared by the API and the pages. */
export function createSignIn(app: FastifyInstance): SignIn {
  const { config, stateStore } = app
  const [secret] = config.sessionSecrets
  const hashIdentifier = createIdentifierHasher(secret)
  const devices = createDeviceTokens(secret)
  const checkPassword = createPasswordCheck(app, hashIdentifier, app.passwordHashQueue)
  const limits = createSignInLimits({
    stateStore,
    hashIdentifier,
    devices,
    perClient: config.LOGIN_LIMIT_PER_CLIENT,
    perAccount: config.LOGIN_LIMIT_PER_ACCOUNT,
  })
  const signIns = new Counter({
    name: 'clearwake_sign_ins_total',
    help: 'Sign-in attempts of administrators, by outcome',
    labelNames: ['outcome'] as const,
    registers: [app.metrics],
  })

  const secure = app.publicBaseUrl().startsWith('https:')
  const deviceCookie = secure ? '__Secure-clearwake-device' : 'clearwake-device'
  const deviceCookieOptions: CookieSerializeOptions = { httpOnly: true, sameSite: 'strict', secure }

  async function record(
    request: FastifyRequest,
    givenEmail: string,
    outcome: Outcome,
  ): Promise<void> {
    signIns.inc({ outcome })
    // People type passwords into the email field, so only the address of an account is logged.
    const account = await app.accounts.find(givenEmail).catch(() => null)
    const email = account?.email
    request.log.info({ email, client: getClientAddress(request), outcome }, 'sign-in')
    if (outcome === 'succeeded') {
      await app.auditLog.record(request, { action: 'sign_in.succeeded', actor: email ?? UNKNOWN })
    }
    if (outcome !== 'failed') return
    // Failures of an account are limited; those of unknown emails have no limit in common.
    if (email === undefined && (await stateStore.consume(UNKNOWN_KEY, UNKNOWN_BUDGET)) > 0) return
    await app.auditLog.record(request, { action: 'sign_in.failed', actor: email ?? UNKNOWN })
  }

  async function authenticate(
    request: FastifyRequest,
    { email, password }: Credentials,
  ): Promise<Account> {
    const attempt = await limits.consume({
      email,
      address: getClientAddress(request),
      deviceToken: request.cookies[deviceCookie] ?? '',
    })
    let account
    try {
      account = await checkPassword(email, password)
    } catch (error) {
      await attempt.refund()
      throw error
    }
    if (account === null) {
      throw new Problem(401, 'The email or password is wrong.', {
        headers: { 'www-authenticate': 'Bearer' },
      })
    }
    await attempt.succeed()
    return account
  }

  return async (request, reply, { email: givenEmail, password }) => {
    if (getRequestOrigin(request, app.publicBaseUrl()) === 'cross-origin') {
      throw new Problem(403, 'Sign-in from another site is not allowed.')
    }
    const email = givenEmail.toLowerCase()
    let account
    let session
    try {
      account = await authenticate(request, { email, password })
      session = await reply.startSession(account)
    } catch (error) {
      const status = error instanceof Problem ? error.statusCode : 500
      await record(request, email, OUTCOMES[status] ?? 'unavailable')
      throw error
    }
    const { token, expires } = devices.issue(account.email)
    for (const path of DEVICE_COOKIE_PATHS) {
      reply.setCookie(deviceCookie, token, { ...deviceCookieOptions, path, expires })
    }
    await record(request, email, 'succeeded')
    return { ...session, role: account.role }
  }
}
