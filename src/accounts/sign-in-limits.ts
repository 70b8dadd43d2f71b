import type { FastifyInstance } from 'fastify'
import { createLimitProblem, type Problem } from '../core/http/problem.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../core/time.js'
import { consumeAll, type Budget } from '../database/state-store/key-value-store.js'
import type { DeviceTokens } from './sign-in-cookies.js'

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
export function createSignInLimits(
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
