import type { OrderBook } from '../orders/book/order-book.js'

/**
 * The currencies that there are orders in: the main one, then by how usual they are. It goes by
 * all orders, so that the first one stays the same from range to range.
 */
export function currenciesByUse(book: OrderBook, main: string): string[] {
  const uses = new Map<string, number>()
  for (const { currency, orders } of book.readSums((sums) => sums.counts({ from: null, to: null })))
    uses.set(currency, (uses.get(currency) ?? 0) + orders)
  const rank = ([code, orders]: [string, number]) => (code === main ? Infinity : orders)
  return [...uses]
    .sort((a, b) => rank(b) - rank(a) || (a[0] < b[0] ? -1 : 1))
    .map(([currency]) => currency)
}
