import type { OrderStore } from '../orders/store/order-store.js'

/**
 * The currencies of all orders: the main currency first, then by number of orders. They do not
 * depend on the selected range, so the first currency is the same for every range.
 */
export async function sortCurrenciesByUse(store: OrderStore, main: string): Promise<string[]> {
  const uses = await store.readStatistics((statistics) => statistics.countByCurrency())
  const rank = ([code, orders]: [string, number]) => (code === main ? Infinity : orders)
  return [...uses]
    .sort((a, b) => rank(b) - rank(a) || (a[0] < b[0] ? -1 : 1))
    .map(([currency]) => currency)
}
