import type { OrderStore } from '../order-store/order-store.js'
import type { OrderFilters } from '../orders/order-filters.js'
import type { PaymentStore } from './payment-store.js'

/**
 * Replaces the payment filter with the IDs of the orders that match it, because payments are always
 * in the service's database, even if the orders are not.
 */
export async function resolvePaymentFilter(
  filters: OrderFilters,
  payments: Pick<PaymentStore, 'findOrderIds'>,
): Promise<OrderFilters> {
  const { payment = [], ...others } = filters
  return payment.length === 0 ? filters : { ...others, ids: await payments.findOrderIds(payment) }
}

/** Adds the payment filter to the `list` method of an order store. */
export const addPaymentFilter = (
  store: OrderStore,
  payments: Pick<PaymentStore, 'findOrderIds'>,
): OrderStore => ({
  ...store,
  list: async (filters, slice) => store.list(await resolvePaymentFilter(filters, payments), slice),
})
