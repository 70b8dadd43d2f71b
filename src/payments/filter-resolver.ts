import type { OrderStore } from '../order-store/order-store.js'
import type { OrderFilters } from '../orders/order-filters.js'
import type { PaymentStore } from './payment-store.js'

/**
 * Creates the function that replaces filters by the IDs of the orders that match them: the payment
 * filter, and a search for a whole provider order ID, Stripe ID or certificate code that occurs in no
 * order. Payments and certificates are always in the service's database, even if the orders are not.
 *
 * @param findCertificate returns the certificate with a code
 */
export function createFilterResolver(
  store: Pick<OrderStore, 'findByOrderSourceId' | 'list'>,
  payments: Pick<PaymentStore, 'findByIntent' | 'findBySession' | 'findOrderIds'>,
  findCertificate: (code: string) => Promise<{ orderId: string } | null>,
) {
  async function findReferenced(reference: string): Promise<number[]> {
    const placed = await store.findByOrderSourceId(reference)
    const others = await Promise.all([
      payments.findBySession(reference),
      payments.findByIntent(reference),
      findCertificate(reference),
    ])
    return [
      ...placed.map(({ id }) => id),
      ...others.flatMap((one) => (one === null ? [] : Number(one.orderId))),
    ]
  }

  return async (filters: OrderFilters): Promise<OrderFilters> => {
    const { payment = [], ...others } = filters
    const resolved =
      payment.length === 0 ? filters : { ...others, ids: await payments.findOrderIds(payment) }
    const { q = '', ...rest } = resolved
    const found = q === '' ? [] : await findReferenced(q.trim())
    if (found.length === 0) return resolved
    const { total } = await store.list({ q }, { sort: '-placedAt', offset: 0, limit: 1 })
    if (total > 0) return resolved
    return { ...rest, ids: found.filter((id) => resolved.ids?.includes(id) ?? true) }
  }
}

/** Adds a filter resolver to the `list` method of an order store. */
export const addFilterResolver = (
  store: OrderStore,
  resolve: (filters: OrderFilters) => Promise<OrderFilters>,
): OrderStore => ({
  ...store,
  list: async (filters, slice) => store.list(await resolve(filters), slice),
})
