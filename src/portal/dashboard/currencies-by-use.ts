import type { OrderDatabase } from '../../order-store/sqlite/sqlite-order-store.js'

/**
 * The currencies of all orders: the main currency first, then by number of orders. Independent of
 * the selected range, so that the first currency is the same for every range.
 */
export function sortCurrenciesByUse(book: OrderDatabase, main: string): string[] {
  const uses = new Map<string, number>()
  for (const { currency, orders } of book.readSums((sums) => sums.counts({ from: null, to: null })))
    uses.set(currency, (uses.get(currency) ?? 0) + orders)
  const rank = ([code, orders]: [string, number]) => (code === main ? Infinity : orders)
  return [...uses]
    .sort((a, b) => rank(b) - rank(a) || (a[0] < b[0] ? -1 : 1))
    .map(([currency]) => currency)
}
