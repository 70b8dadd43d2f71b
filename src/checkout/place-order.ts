import type { FastifyInstance } from 'fastify'
import { createLimitProblem } from '../core/http/problem.js'
import { MINUTE_MS } from '../core/time.js'
import { toMailbox } from '../core/validation/email-address.js'
import { createKeyedMutex } from '../database/state-store/state-store.js'
import type { PaymentMethod } from '../orders/order-checkout.js'
import type { NewOrder, Order } from '../orders/order.js'
import type { CreateResult } from '../orders/store/order-store.js'
import type { OrderForm } from './order-form.js'
import { hashTrip, type OrderedTrip } from './ordered-trip.js'
import type { Price } from './prices.js'
import type { Quote } from './quotes.js'

/** Stored as the user who creates or cancels a guest order. */
export const GUEST = 'guest'

interface GuestOrder {
  trip: OrderedTrip
  details: NonNullable<OrderForm['details']>
  isPublic: boolean
  quote: Quote
  paymentMethod: PaymentMethod
}

type PlaceOrderResult =
  | { outcome: 'created' | 'replayed'; order: Order; token: string }
  /** An order with different values was already created from this form. */
  | { outcome: 'idempotency_key_reused' }

/** The price that a guest accepts, as the checkout of an order keeps it. */
export const toCheckoutPrice = (price: Price) => ({
  pricePerTonneMinor: price.pricePerTonneMinor,
  paidPerTonneMinor: price.isMinimum ? null : price.paidPerTonneMinor,
  offsetMinor: price.offsetMinor,
  serviceFeeMinor: price.serviceFeeMinor,
  amountMinor: price.amountMinor,
  currency: price.currency,
  co2eKg: price.co2eKg,
})

const toNewOrder = ({ trip, details, isPublic, quote, paymentMethod }: GuestOrder): NewOrder => ({
  ...trip.calculation,
  calculatorData: { ...trip.calculation.calculatorData },
  customerName: details.name,
  customerEmail: details.email,
  vesselName: trip.vessel?.name ?? null,
  imoNumber: trip.vessel?.imoNumber ?? null,
  co2eKg: quote.co2eKg,
  amountMinor: quote.amountMinor,
  currency: quote.currency,
  origin: 'guest',
  checkout: {
    beneficiary: details.beneficiary,
    isPublic,
    company: details.company,
    vatId: details.vatId,
    portfolioId: quote.portfolio?.id ?? null,
    portfolioName: quote.portfolio?.name ?? null,
    sharePercent: quote.sharePercent,
    forGuests: quote.forGuests ?? null,
    ...toCheckoutPrice(quote),
    paymentMethod,
  },
})

const LIMIT_WINDOW_MS = 60 * MINUTE_MS

/**
 * Returns a function that counts an order towards the limits of a client and an email address. It
 * throws a Problem (429) when a limit is reached, and returns a function that undoes the count.
 */
function createOrderLimits({ config, stateStore, hashIdentifier }: FastifyInstance) {
  return async (client: string, email: string): Promise<() => Promise<void>> => {
    const clientKey = `orders:client:${hashIdentifier('order client', client)}`
    const emailKey = `orders:email:${hashIdentifier('order email', toMailbox(email))}`
    const consumed: string[] = []
    const refund = async (): Promise<void> => {
      for (const key of consumed.splice(0)) await stateStore.refund(key)
    }
    for (const [key, limit] of [
      [clientKey, config.ORDER_LIMIT_PER_CLIENT],
      [emailKey, config.ORDER_LIMIT_PER_EMAIL],
    ] as const) {
      const waitMs = await stateStore.consume(key, { limit, windowMs: LIMIT_WINDOW_MS })
      if (waitMs > 0) {
        await refund()
        const minutes = Math.ceil(waitMs / MINUTE_MS)
        const wait = minutes === 1 ? 'a minute' : `${minutes} minutes`
        throw createLimitProblem(`Too many orders. Try again in ${wait}.`, waitMs)
      }
      consumed.push(key)
    }
    return refund
  }
}

/** Creates guest orders: one for each form, however often it is submitted. */
export function createOrderPlacer(app: FastifyInstance) {
  const { orders: store, orderLinks: links } = app
  const countOrder = createOrderLimits(app)
  // Requests from one form are processed one at a time, so that repeated requests do not count
  // towards the limits.
  const inSequence = createKeyedMutex()

  /** Throws a Problem: 429 if a limit is reached, 503 if the store is unavailable. */
  async function create(order: NewOrder, key: string, client: string): Promise<CreateResult> {
    const refund = await countOrder(client, order.customerEmail)
    let outcome: CreateResult['outcome'] | null = null
    try {
      const created = await store.create(order, GUEST, key)
      outcome = created.outcome
      return created
    } finally {
      if (outcome !== 'created') await refund()
    }
  }

  /**
   * Creates the order for a form, unless the order already exists; returns the token of its private
   * link.
   *
   * @param formId ID that all forms in a browser share; with the trip, it identifies a form
   * @param client network address
   */
  return (guestOrder: GuestOrder, formId: string, client: string): Promise<PlaceOrderResult> => {
    const key = `form ${formId} ${hashTrip(guestOrder.trip)}`
    return inSequence(key, async () => {
      let created = await create(toNewOrder(guestOrder), key, client)
      // A guest who cancelled the order wants another one, not that one.
      while (created.outcome === 'replayed' && created.order.status === 'cancelled') {
        created = await create(toNewOrder(guestOrder), `${key} after ${created.order.id}`, client)
      }
      if (created.outcome === 'idempotency_key_reused') return { outcome: created.outcome }
      const { outcome, order } = created
      return { outcome, order, token: await links.create(order) }
    })
  }
}

/**
 * Starts the payment of an order. Returns the URL where the guest pays: Stripe's page, or the order
 * page, which shows how to pay or why payment is not possible now.
 *
 * @param path of the order page
 */
export async function startPayment(
  { payments, publicBaseUrl }: FastifyInstance,
  order: Order,
  path: string,
): Promise<string> {
  const { service } = payments
  if (order.checkout?.paymentMethod !== 'stripe' || service === null) return path
  const started = await service.start(order, `${publicBaseUrl()}${path}`)
  if (started.outcome === 'redirect') return started.url
  return started.outcome === 'unavailable' ? `${path}?payment=unavailable` : path
}
