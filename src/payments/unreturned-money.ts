import type { Amount } from '../orders/amount.js'
import { isPaid } from '../orders/order-status.js'
import type { Order } from '../orders/order.js'
import {
  countNoun,
  type DescribeConsequences,
  type OrderChange,
} from '../orders/pages/consequences.js'
import type { PaymentStore } from './payment-store.js'
import { getBalance, type Payment } from './payment.js'

/** The money that a customer has paid for an order that ends, and that is not refunded. */
function findUnreturned(
  { before, after }: OrderChange,
  payments: readonly Payment[],
): Amount | null {
  if (after.status !== 'cancelled' && after.status !== 'refunded') return null
  const held = payments.find((payment) => getBalance(payment) > 0)
  if (held !== undefined) return { currency: held.currency, amountMinor: getBalance(held) }
  const isRecorded = after.status === 'cancelled' && isPaid(before.status)
  const isRefunded = payments.some(({ refundedMinor }) => refundedMinor > 0)
  return isRecorded && !isRefunded && before.amountMinor > 0
    ? { currency: before.currency, amountMinor: before.amountMinor }
    : null
}

function sumByCurrency(amounts: readonly Amount[]): Amount[] {
  const sums = new Map<string, number>()
  for (const { currency, amountMinor } of amounts) {
    sums.set(currency, (sums.get(currency) ?? 0) + amountMinor)
  }
  return [...sums].map(([currency, amountMinor]) => ({ currency, amountMinor }))
}

const list = new Intl.ListFormat('en')

/** Loads payments to say how much money changes leave paid and not refunded. */
export async function loadUnreturnedMoney(
  store: PaymentStore,
  orders: readonly Order[],
): Promise<DescribeConsequences> {
  const payments = await store.listOf(orders.map(({ id }) => id))
  const listOf = (order: Order) => payments.filter(({ orderId }) => orderId === order.id)
  return (changes, options) => {
    const unreturned = changes
      .map((change) => findUnreturned(change, options.isRefund ? [] : listOf(change.before)))
      .filter((amount) => amount !== null)
    if (unreturned.length === 0) return []
    const amounts = list.format(
      sumByCurrency(unreturned).map(({ amountMinor, currency }) =>
        options.format.money(amountMinor, currency),
      ),
    )
    const counted = options.isSingle ? '' : ` (${countNoun(unreturned.length, 'order', options)})`
    return [{ clause: `leaves ${amounts} paid and not refunded${counted}` }]
  }
}
