import { Problem } from '../http/problem.js'
import {
  NotPersistedError,
  type Budget,
  type KeyValueStore,
} from '../state-store/key-value-store.js'
import type { DeviceTokens } from './device-token.js'
import type { HashIdentifier } from './hashed-identifier.js'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const ADDRESS_KNOWN_MS = 30 * DAY_MS

/** Who tries to log in, as far as it can be told before the password is checked. */
export interface SignInClient {
  email: string
  /** Its network address */
  client: string
  /** What it shows as the token of a known device */
  deviceToken: string
}

/** One guess, counted as a failure until it turns out to be none. */
export interface SignInAttempt {
  /** It was not wrong, or never checked. */
  giveBack(): Promise<void>
  /** It was right: the account knows this address from now on. */
  wasRight(): Promise<void>
}

export interface SignInLimits {
  /** Counts a guess; throws a Problem (429) where there have been too many. */
  take(applicant: SignInClient): Promise<SignInAttempt>
}

interface Options {
  memory: KeyValueStore
  pseudonym: HashIdentifier
  devices: DeviceTokens
  perClient: number
  perAccount: number
}

function tooMany(waitMs: number): Problem {
  const minutes = Math.ceil(waitMs / MINUTE_MS)
  return new Problem(
    429,
    `Too many failed logins: try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
    { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } },
  )
}

/**
 * Bounds how often passwords may be guessed: from one client, and, by clients that an account
 * does not know, for one account. A known device has a budget of its own and no other, so that
 * its owner gets in whatever others do, and a stolen one guesses no faster. E-mail addresses that
 * are no account's are counted alike, so that a refusal does not tell which are.
 */
export function createSignInLimits(options: Options): SignInLimits {
  const { memory, pseudonym, devices } = options
  const perClient: Budget = { most: options.perClient, windowMs: 15 * MINUTE_MS }
  const perAccount: Budget = { most: options.perAccount, windowMs: 60 * MINUTE_MS }

  async function budgetsOf({
    email,
    client,
    deviceToken,
  }: SignInClient): Promise<[string, Budget][]> {
    const device = devices.idOf(deviceToken, email)
    if (device !== null) return [[`failures:device:${device}`, perClient]]
    const ofClient: [string, Budget] = [`failures:client:${pseudonym('client', client)}`, perClient]
    if (await memory.remembers(knownAddress(email, client))) return [ofClient]
    return [ofClient, [`failures:account:${pseudonym('account', email)}`, perAccount]]
  }

  const knownAddress = (email: string, client: string): string =>
    `known:${pseudonym('known', email, client)}`

  return {
    async take(applicant) {
      const taken: string[] = []
      const giveBack = async () => {
        for (const key of taken.splice(0)) await memory.giveBack(key)
      }
      for (const [key, budget] of await budgetsOf(applicant)) {
        const waitMs = await memory.take(key, budget)
        if (waitMs > 0) {
          await giveBack()
          throw tooMany(waitMs)
        }
        taken.push(key)
      }
      return {
        giveBack,
        async wasRight() {
          await giveBack()
          const key = knownAddress(applicant.email, applicant.client)
          try {
            await memory.remember(key, ADDRESS_KNOWN_MS)
          } catch (error) {
            // After a restart the address is a stranger's again, which is no reason to refuse a login.
            if (!(error instanceof NotPersistedError)) throw error
          }
        },
      }
    },
  }
}
