import type { Budget, KeyValueStore } from './key-value-store.js'

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
