import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import { getClientAddress } from '../core/http/client-address.js'
import { getRequestOrigin } from '../core/http/fetch-metadata.js'
import { createLimitProblem, Problem } from '../core/http/problem.js'
import { isApiPath } from '../core/http/request-path.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.js'
import { toMailbox } from '../core/validation/email-address.js'
import { consumeAll, type Budget } from '../database/state-store/state-store.js'
import type { Credentials } from './account-schemas.js'
import type { Account } from './account-store.js'
import type { Role } from './permissions.js'
import { SecondFactorRequired } from './require-permission.js'
import { createPasskeyProblem } from './second-factor/passkeys.js'
import type { Session } from './session-store.js'
import { getUser } from './session.js'
import { createDeviceTokens, type DeviceTokens } from './sign-in-cookies.js'

const KNOWN_ADDRESS_TTL_MS = 30 * DAY_MS

/** What is known about a client before its password is checked. */
interface SignInClient {
  email: string
  /** Network address */
  address: string
  /** Value of the device cookie, or empty */
  deviceToken: string
}

function tooManyFailures(waitMs: number): Problem {
  const minutes = Math.ceil(waitMs / MINUTE_MS)
  return createLimitProblem(
    `Too many failed sign-ins. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
    waitMs,
  )
}

/**
 * Limits failed sign-ins per client and, for clients unknown to an account, per account. Failures
 * on a known device count only towards the device's own limit. Strangers therefore cannot lock out
 * the owner of the account, and a stolen device token does not allow faster guessing. Unknown
 * emails are counted in the same way, so a rejection does not reveal which accounts exist.
 */
function createSignInLimits(
  {
    config,
    stateStore,
    hashIdentifier,
  }: Pick<FastifyInstance, 'config' | 'stateStore' | 'hashIdentifier'>,
  devices: DeviceTokens,
) {
  const perClient: Budget = { limit: config.LOGIN_LIMIT_PER_CLIENT, windowMs: 15 * MINUTE_MS }
  const perAccount: Budget = { limit: config.LOGIN_LIMIT_PER_ACCOUNT, windowMs: HOUR_MS }

  const knownAddressKey = (email: string, address: string): string =>
    `known:${hashIdentifier('known', email, address)}`

  async function findBudgets(client: SignInClient): Promise<[string, Budget][]> {
    const { email, address, deviceToken } = client
    const device = devices.verify(deviceToken, email)
    if (device !== null) return [[`failures:device:${device}`, perClient]]
    const clientBudget: [string, Budget] = [
      `failures:client:${hashIdentifier('client', address)}`,
      perClient,
    ]
    if (await stateStore.has(knownAddressKey(email, address))) return [clientBudget]
    return [clientBudget, [`failures:account:${hashIdentifier('account', email)}`, perAccount]]
  }

  return {
    /**
     * Counts an attempt as a failure until it succeeds; throws a Problem (429) when a limit is
     * reached.
     */
    async consume(client: SignInClient) {
      const { waitMs, refund } = await consumeAll(stateStore, await findBudgets(client))
      if (waitMs > 0) throw tooManyFailures(waitMs)
      return {
        /** Undoes the count. Call this if the password could not be checked. */
        refund,
        /** Undoes the count and records the address as known to the account. */
        async succeed(): Promise<void> {
          await refund()
          await stateStore.set(knownAddressKey(client.email, client.address), KNOWN_ADDRESS_TTL_MS)
        },
      }
    },
  }
}

type StartedSession = Session & { role: Role; token: string }

/** How a user signed in: with only a password, with a password and a code, or with a passkey. */
type SignInMethod = 'password' | 'app' | 'recovery_code' | 'passkey'

type Outcome = 'succeeded' | 'failed' | 'limited' | 'unavailable'

/** An invalid passkey causes status 422. */
const OUTCOMES: Partial<Record<number, Outcome>> = { 401: 'failed', 422: 'failed', 429: 'limited' }

/** The actor that is recorded for a failed sign-in if the email has no account. */
const UNKNOWN = 'unknown account'
const UNKNOWN_KEY = 'audit:unknown-account'
const UNKNOWN_BUDGET = { limit: 100, windowMs: HOUR_MS }

/** The device cookie is only sent to the sign-in routes. */
const DEVICE_COOKIE_PATHS = ['/api/admin/login', '/admin/login']

/** Sign-in, shared by the API and the pages. */
export function createSignIn(app: FastifyInstance) {
  const { config, stateStore, secondFactors } = app
  const devices = createDeviceTokens(config.sessionSecrets[0])
  const limits = createSignInLimits(app, devices)
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
    method?: SignInMethod,
  ): Promise<void> {
    signIns.inc({ outcome })
    // Only emails of existing accounts are logged, because users sometimes type their password into
    // the email field.
    const account = await app.accounts.find(givenEmail).catch(() => null)
    const email = account?.email
    request.log.info({ email, client: getClientAddress(request), outcome }, 'sign-in')
    if (outcome === 'succeeded') {
      await app.auditLog.record(request, {
        action: 'sign_in.succeeded',
        actor: email ?? UNKNOWN,
        details: { method },
      })
    }
    if (outcome === 'limited' && email !== undefined) {
      // Not awaited, so that the response does not reveal whether the account exists.
      void app.notifyUser(request, email, 'sign_in.failed')
    }
    if (outcome !== 'failed') return
    // Failures are already limited per email. This limits the total number of entries for unknown
    // emails.
    if (email === undefined && (await stateStore.consume(UNKNOWN_KEY, UNKNOWN_BUDGET)) > 0) return
    await app.auditLog.record(request, { action: 'sign_in.failed', actor: email ?? UNKNOWN })
  }

  async function authenticate(
    request: FastifyRequest,
    { email, password }: Credentials,
  ): Promise<Account> {
    const attempt = await limits.consume({
      email: toMailbox(email),
      address: getClientAddress(request),
      deviceToken: request.cookies[deviceCookie] ?? '',
    })
    let account
    try {
      account = await app.passwords.findAccount(email, password)
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

  /** Throws a Problem (403) if another site sent the request. The `with…` methods call this. */
  function rejectOtherSites(request: FastifyRequest): void {
    if (getRequestOrigin(request, app.publicBaseUrl()) === 'cross-origin') {
      throw new Problem(403, 'Sign-in from another site is not allowed.')
    }
  }

  /** The ID of the device if the account has signed in on it before; otherwise `null` */
  const findDevice = (request: FastifyRequest, { email }: Account): string | null =>
    devices.verify(request.cookies[deviceCookie] ?? '', toMailbox(email))

  async function useCode(
    request: FastifyRequest,
    account: Account,
    code: string,
  ): Promise<SignInMethod> {
    const device = findDevice(request, account)
    try {
      return await secondFactors.useCode(account.email, code, device)
    } catch (error) {
      const isWrong = error instanceof Problem && error.statusCode === 401
      if (isWrong && device === null) {
        await app.notifyUser(request, account.email, 'sign_in.failed')
      }
      throw error
    }
  }

  async function start(
    request: FastifyRequest,
    reply: FastifyReply,
    account: Account,
    method: SignInMethod,
  ): Promise<StartedSession> {
    const session = await reply.startSession(account, method !== 'password')
    if (findDevice(request, account) === null) {
      await app.notifyUser(request, account.email, 'sign_in.new_device')
    }
    const { token, expires } = devices.issue(toMailbox(account.email))
    for (const path of DEVICE_COOKIE_PATHS) {
      reply.setCookie(deviceCookie, token, { ...deviceCookieOptions, path, expires })
    }
    await record(request, account.email, 'succeeded', method)
    return { ...session, role: account.role }
  }

  /** Runs an attempt; if it fails, counts and logs the failure. */
  async function recordFailure<T>(
    request: FastifyRequest,
    email: string,
    attempt: () => Promise<T>,
  ): Promise<T> {
    try {
      return await attempt()
    } catch (error) {
      const status = error instanceof Problem ? error.statusCode : 500
      await record(request, email, OUTCOMES[status] ?? 'unavailable')
      throw error
    }
  }

  async function findPasskeyAccount({ email }: { email: string }): Promise<Account> {
    const account = await app.accounts.find(email)
    if (account === null) throw createPasskeyProblem()
    return account
  }

  return {
    rejectOtherSites,

    /** Checks the password of a signed-in user. Throws a Problem: 401, 429 or 503. */
    checkPassword: (request: FastifyRequest, credentials: Credentials): Promise<Account> =>
      recordFailure(request, credentials.email, () => authenticate(request, credentials)),

    /** Checks a passkey of the signed-in user. Throws a Problem (422). */
    checkPasskey(request: FastifyRequest, credential: string): Promise<Account> {
      const { email } = getUser(request)
      return recordFailure(request, email, async () => {
        const passkey = await secondFactors.passkeys.verifySignIn(credential)
        if (passkey.email !== email) {
          throw new Problem(422, 'This passkey belongs to another account.')
        }
        return findPasskeyAccount(passkey)
      })
    },

    /**
     * Checks the credentials and starts a session. If `session` is `null`, a second factor is
     * needed: continue with `withCode` or `withPasskey`. Throws a Problem: 401, 403, 429 or 503.
     */
    async withPassword(
      request: FastifyRequest,
      reply: FastifyReply,
      { email: givenEmail, password, code }: Credentials & { code?: string },
    ): Promise<{ account: Account; session: StartedSession | null }> {
      rejectOtherSites(request)
      const email = givenEmail.toLowerCase()
      return recordFailure(request, email, async () => {
        const account = await authenticate(request, { email, password })
        if (code === undefined) {
          if (await secondFactors.has(account.email)) {
            const actor = account.email
            await app.auditLog.record(request, { action: 'sign_in.code_required', actor })
            return { account, session: null }
          }
          if (config.REQUIRE_SECOND_FACTOR && isApiPath(request.url)) {
            throw new SecondFactorRequired()
          }
        }
        const method = code === undefined ? 'password' : await useCode(request, account, code)
        return { account, session: await start(request, reply, account, method) }
      })
    },

    /**
     * Continues with a code from the authenticator app, or a recovery code. Throws a Problem: 401,
     * 403 or 429.
     */
    async withCode(
      request: FastifyRequest,
      reply: FastifyReply,
      account: Account,
      code: string,
    ): Promise<StartedSession> {
      rejectOtherSites(request)
      return recordFailure(request, account.email, async () => {
        const method = await useCode(request, account, code)
        return start(request, reply, account, method)
      })
    },

    /** Signs in without a password. Throws a Problem: 403 or 422. */
    async withPasskey(
      request: FastifyRequest,
      reply: FastifyReply,
      credential: string,
    ): Promise<StartedSession> {
      rejectOtherSites(request)
      // The email is not known until the passkey is verified.
      const account = await recordFailure(request, '', async () =>
        findPasskeyAccount(await secondFactors.passkeys.verifySignIn(credential)),
      )
      return start(request, reply, account, 'passkey')
    },
  }
}

export type SignIn = ReturnType<typeof createSignIn>
