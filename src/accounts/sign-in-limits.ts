import { Problem } from '../core/http/problem.js'
import {
  consumeAll,
  type Budget,
  type KeyValueStore,
} from '../database/state-store/key-value-store.js'
import type { DeviceTokens } from './device-token.js'
import type { HashIdentifier } from '../core/config/signer.js'
import { DAY_MS, MINUTE_MS } from '../core/time.js'

const KNOWN_ADDRESS_TTL_MS = 30 * DAY_MS

/** What is known about a client before its password is checked. */
interface SignInClient {
  email: string
  /** Network address */
  address: string
  /** Value of the device cookie, or empty */
  deviceToken: string
}

/** A sign-in attempt, counted as a failure until it succeeds. */
interface SignInAttempt {
  /** Undoes the count. Call this if the password could not be checked. */
  refund(): Promise<void>
  /** Undoes the count and records the address as known to the account. */
  succeed(): Promise<void>
}

interface SignInLimits {
  /** Counts an attempt; throws a Problem (429) when a limit is reached. */
  consume(client: SignInClient): Promise<SignInAttempt>
}

interface Options {
  stateStore: KeyValueStore
  hashIdentifier: HashIdentifier
  devices: DeviceTokens
  perClient: number
  perAccount: number
}

function tooManyFailures(waitMs: number): Problem {
  const minutes = Math.ceil(waitMs / MINUTE_MS)
  return new Problem(
    429,
    `Too many failed sign-ins. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
    { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } },
  )
}

/**
 * Limits failed sign-ins per client and, for clients unknown to an account, per account. Failures
 * on a known device count only towards the device's own limit. Strangers therefore cannot lock out
 * the owner of the account, and a stolen device token does not allow faster guessing. Unknown
 * emails are counted in the same way, so a rejection does not reveal which accounts exist.
 */
export function createSignInLimits(options: Options): SignInLimits {
  const { stateStore, hashIdentifier, devices } = options
  const perClient: Budget = { limit: options.perClient, windowMs: 15 * MINUTE_MS }
  const perAccount: Budget = { limit: options.perAccount, windowMs: 60 * MINUTE_MS }

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
    async consume(client) {
      const { waitMs, refund } = await consumeAll(stateStore, await findBudgets(client))
      if (waitMs > 0) throw tooManyFailures(waitMs)
      return {
        refund,
        async succeed() {
          await refund()
          await stateStore.set(knownAddressKey(client.email, client.address), KNOWN_ADDRESS_TTL_MS)
        },
      }
    },
  }
}
