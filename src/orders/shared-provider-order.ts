import type { OrderStore, ProviderOrderRef } from './store/order-store.js'
import type { Order } from './order.js'

/** Returns the other orders that have the same order at the provider. There should be none. */
export const findSharedProviderOrders = async (
  store: Pick<OrderStore, 'findByOrderSourceId'>,
  { id, orderSourceId }: Pick<Order, 'id' | 'orderSourceId'>,
): Promise<ProviderOrderRef[]> =>
  orderSourceId === null
    ? []
    : (await store.findByOrderSourceId(orderSourceId)).filter((other) => String(other.id) !== id)
