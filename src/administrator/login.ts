import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import type { AdminAccount } from '../plugins/admin-accounts.js'
import { clientAddress } from '../plugins/client-address.js'
import { Problem } from '../plugins/problem.js'
import { provenanceOf } from '../plugins/provenance.js'
import type { AdminSession } from '../plugins/session-token.js'
import type { Credentials } from './credentials.js'
import { deviceTokens } from './device-token.js'
import { loginLimits } from './login-limits.js'
import { passwordCheck } from './password-check.js'
import { pseudonyms } from './pseudonym.js'

/** Logs in whoever has the right password: session and device cookies; 401 for everybody else. */
export type Login = (
  request: FastifyRequest,
  reply: FastifyReply,
  credentials: Credentials,
) => Promise<AdminSession & { token: string }>

type Outcome = 'succeeded' | 'failed' | 'limited' | 'unavailable'

const OUTCOMES: Partial<Record<number, Outcome>> = { 401: 'failed', 429: 'limited' }

/** Where a device's cookie is of use: it goes nowhere else. */
const DEVICE_PATHS = ['/api/admin/login', '/admin/login']

/** The one way to log in, for the API and for pages. */
export function createLogin(app: FastifyInstance): Login {
  const { config, sharedMemory: memory } = app
  const [secret] = config.sessionSecrets
  const pseudonym = pseudonyms(secret)
  const devices = deviceTokens(secret)
  const check = passwordCheck(app, pseudonym)
  const limits = loginLimits({
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
    request.log.info({ email: account, client: clientAddress(request), outcome }, 'login')
  }

  async function accountFor(
    request: FastifyRequest,
    { email, password }: Credentials,
  ): Promise<AdminAccount> {
    const guess = await limits.take({
      email,
      client: clientAddress(request),
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
    if (provenanceOf(request, app.publicBaseUrl()) === 'foreign') {
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
