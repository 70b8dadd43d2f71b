/** How often something may happen within a time window that starts with its first occurrence. */
export interface Budget {
  limit: number
  windowMs: number
}

/**
 * Short-lived state, such as sign-in limits; without PostgreSQL, it is lost when the process ends.
 * Every method throws DatabaseUnavailableError when the store is unavailable.
 */
export interface KeyValueStore {
  /**
   * Stores a key until its TTL expires. Keys are never evicted, so only authenticated actions may
   * add them.
   */
  set(key: string, ttlMs: number): Promise<void>
  has(key: string): Promise<boolean>
  /** Takes one unit from a budget, atomically. Returns 0, or the milliseconds until more is available. */
  consume(key: string, budget: Budget): Promise<number>
  /** Gives one unit back to a budget. */
  refund(key: string): Promise<void>
}

/**
 * Takes one unit from each budget, or from none if one is used up. Returns 0 or the milliseconds
 * until more is available, and a function that gives the units back.
 */
export async function consumeAll(
  stateStore: KeyValueStore,
  budgets: readonly [key: string, Budget][],
): Promise<{ waitMs: number; refund: () => Promise<void> }> {
  const consumed: string[] = []
  const refund = async () => {
    for (const key of consumed.splice(0)) await stateStore.refund(key)
  }
  for (const [key, budget] of budgets) {
    const waitMs = await stateStore.consume(key, budget)
    if (waitMs > 0) {
      await refund()
      return { waitMs, refund }
    }
    consumed.push(key)
  }
  return { waitMs: 0, refund }
}
