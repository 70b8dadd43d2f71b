import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import type { AdminAccount } from '../config/admin-accounts.js'
import { getClientAddress } from '../http/client-address.js'
import { Problem } from '../http/problem.js'
import { getRequestOrigin } from '../http/fetch-metadata.js'
import type { AdminSession } from './session-token.js'
import type { Credentials } from './credentials.js'
import { createDeviceTokens } from './device-token.js'
import { createSignInLimits } from './sign-in-limits.js'
import { createPasswordCheck } from './password-check.js'
import { createIdentifierHash } from './hashed-identifier.js'

/** Logs in whoever has the right password: session and device cookies; 401 for everybody else. */
export type SignIn = (
  request: FastifyRequest,
  reply: FastifyReply,
  credentials: Credentials,
) => Promise<AdminSession & { token: string }>

type Outcome = 'succeeded' | 'failed' | 'limited' | 'unavailable'

const OUTCOMES: Partial<Record<number, Outcome>> = { 401: 'failed', 429: 'limited' }

/** Where a device's cookie is of use: it goes nowhere else. */
const DEVICE_PATHS = ['/api/admin/login', '/admin/login']

/** The one way to log in, for the API and for pages. */
export function createSignIn(app: FastifyInstance): SignIn {
  const { config, sharedMemory: memory } = app
  const [secret] = config.sessionSecrets
  const pseudonym = createIdentifierHash(secret)
  const devices = createDeviceTokens(secret)
  const check = createPasswordCheck(app, pseudonym)
  const limits = createSignInLimits({
    memory,
    pseudonym,
    devices,
    perClient: config.LOGIN_LIMIT_PER_CLIENT,
    perAccount: config.LOGIN_LIMIT_PER_ACCOUNT,
  })
  const logins = new Counter({
    name: 'clearwake_logins_total',
    help: 'Logins of administrators, by outcome',
    labelNames: ['outcome'] as const,
    registers: [app.metrics],
  })

  const secure = app.publicBaseUrl().startsWith('https:')
  const deviceCookie = secure ? '__Secure-clearwake-device' : 'clearwake-device'
  const deviceOptions: CookieSerializeOptions = { httpOnly: true, sameSite: 'strict', secure }

  function note(request: FastifyRequest, email: string, outcome: Outcome): void {
    logins.inc({ outcome })
    // People type passwords into the wrong field, so only an account's e-mail is written down.
    const account = app.accountOf(email)?.email
    request.log.info({ email: account, client: getClientAddress(request), outcome }, 'login')
  }

  async function accountFor(
    request: FastifyRequest,
    { email, password }: Credentials,
  ): Promise<AdminAccount> {
    const guess = await limits.take({
      email,
      client: getClientAddress(request),
      deviceToken: request.cookies[deviceCookie] ?? '',
    })
    let account
    try {
      account = await check(email, password)
    } catch (error) {
      await guess.giveBack()
      throw error
    }
    if (account === null) {
      throw new Problem(401, 'The e-mail address or the password is wrong.', {
        headers: { 'www-authenticate': 'Bearer' },
      })
    }
    await guess.wasRight()
    return account
  }

  return async (request, reply, { email: given, password }) => {
    if (getRequestOrigin(request, app.publicBaseUrl()) === 'foreign') {
      throw new Problem(403, 'Nobody is logged in from the pages of another site.')
    }
    const email = given.toLowerCase()
    let account
    try {
      account = await accountFor(request, { email, password })
    } catch (error) {
      const status = error instanceof Problem ? error.statusCode : 500
      note(request, email, OUTCOMES[status] ?? 'unavailable')
      throw error
    }
    const session = reply.openSession(account)
    const { token, expires } = devices.issue(account.email)
    for (const path of DEVICE_PATHS) {
      reply.setCookie(deviceCookie, token, { ...deviceOptions, path, expires })
    }
    note(request, email, 'succeeded')
    return session
  }
}
