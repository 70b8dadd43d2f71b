import type { OrderBook } from '../orders/book/order-book.js'

/**
 * The currencies that there are orders in, the most usual one first. It goes by all orders, so
 * that the first one stays the same from range to range.
 */
export function currenciesByUse(book: OrderBook): string[] {
  const uses = new Map<string, number>()
  for (const { currency, orders } of book.readSums((sums) => sums.counts({ from: null, to: null })))
    uses.set(currency, (uses.get(currency) ?? 0) + orders)
  return [...uses]
    .sort(([a, usesOfA], [b, usesOfB]) => usesOfB - usesOfA || (a < b ? -1 : 1))
    .map(([currency]) => currency)
}
