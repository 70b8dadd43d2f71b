import type { HashIdentifier } from '../core/config/signer.js'
import { Problem } from '../core/http/problem.js'
import type { KeyValueStore } from '../database/state-store/key-value-store.js'
import { toMailbox } from '../core/validation/email-address.js'
import { MINUTE_MS } from '../core/time.js'

const WINDOW_MS = 60 * MINUTE_MS

export interface OrderLimits {
  /**
   * Counts an order towards the limits of a client and an email address. Throws a Problem (429)
   * when a limit is reached; returns a function that undoes the count.
   */
  consume(client: string, email: string): Promise<() => Promise<void>>
}

interface Options {
  stateStore: KeyValueStore
  hashIdentifier: HashIdentifier
  /** Orders per hour */
  perClient: number
  perEmail: number
}

function createLimitProblem(waitMs: number): Problem {
  const minutes = Math.ceil(waitMs / MINUTE_MS)
  return new Problem(
    429,
    `Too many orders. Try again in ${minutes === 1 ? 'a minute' : `${minutes} minutes`}.`,
    { headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) } },
  )
}

/** Limits guest orders per client and per email address. */
export function createOrderLimits(options: Options): OrderLimits {
  const { stateStore, hashIdentifier, perClient, perEmail } = options
  return {
    async consume(client, email) {
      const budgets = [
        [`orders:client:${hashIdentifier('order client', client)}`, perClient],
        [`orders:email:${hashIdentifier('order email', toMailbox(email))}`, perEmail],
      ] as const
      const consumed: string[] = []
      const refund = async (): Promise<void> => {
        for (const key of consumed.splice(0)) await stateStore.refund(key)
      }
      for (const [key, limit] of budgets) {
        const waitMs = await stateStore.consume(key, { limit, windowMs: WINDOW_MS })
        if (waitMs > 0) {
          await refund()
          throw createLimitProblem(waitMs)
        }
        consumed.push(key)
      }
      return refund
    },
  }
}
