/** The status of a purchase after each event of its order. */
const STATUSES = {
  'order.paid': 'paid',
  'order.fulfilled': 'fulfilled',
  'order.cancelled': 'cancelled',
  'order.refunded': 'refunded',
}

/** The purchases of the shop, in memory. A real shop has a database. */
export function createPurchases() {
  const purchases = new Map()
  const processed = new Set()

  return {
    get: (number) => purchases.get(number),
    set: (number, purchase) => purchases.set(number, purchase),

    /** Applies a webhook. It can arrive more than once, and a replayed one can be older. */
    apply(webhookId, { type, data: order }) {
      if (processed.has(webhookId)) return
      processed.add(webhookId)
      const status = STATUSES[type]
      const purchase = [...purchases.values()].find(({ orderId }) => orderId === order.id)
      if (!status || !purchase || order.version < purchase.version) return
      Object.assign(purchase, { status, version: order.version })
    },
  }
}
