import { EXAMPLES } from '../calculator/examples.js'
import type { OrderStore } from '../orders/store/order-store.js'
import type { Order } from '../orders/order.js'
import { WHOLE_TRIP } from '../orders/share.js'
import { toCheckoutPrice } from '../checkout/place-order.js'
import { priceTrip } from '../checkout/price-trip.js'
import { PORTFOLIOS } from './fake-provider/portfolios.js'

const PORTFOLIO = PORTFOLIOS[1] ?? PORTFOLIOS[0]
const SERVICE_FEE_PERCENT = 5

/**
 * Adds a guest order and its payment. The service then places the order and issues its
 * certificate.
 */
export async function addGuestOrder(store: OrderStore): Promise<Order | null> {
  if (PORTFOLIO === undefined) return null
  const { fuel } = EXAMPLES
  const { pricePerTonMinor, currency } = PORTFOLIO
  const result = priceTrip(fuel, { amountMinor: pricePerTonMinor, currency }, WHOLE_TRIP, () => ({
    serviceFee: SERVICE_FEE_PERCENT * 100,
    minimumMinor: 0,
  }))
  if (result.outcome !== 'priced') return null
  const { price } = result
  const { co2eKg, amountMinor } = price
  const created = await store.create(
    {
      ...fuel,
      calculatorData: { ...fuel.calculatorData },
      customerName: 'Nikos Papadopoulos',
      customerEmail: 'nikos@example.com',
      vesselName: 'Αργοναύτης',
      co2eKg,
      amountMinor,
      currency,
      origin: 'guest',
      checkout: {
        beneficiary: 'Nikos Papadopoulos & the crew of the Αργοναύτης',
        isPublic: true,
        company: null,
        vatId: null,
        portfolioId: PORTFOLIO.id,
        portfolioName: PORTFOLIO.name,
        ...WHOLE_TRIP,
        ...toCheckoutPrice(price),
        paymentMethod: 'invoice',
      },
    },
    'guest',
  )
  if (!('order' in created)) return null
  const { id, version } = created.order
  const context = { by: 'shop@example.com', ifVersions: [version] }
  await store.apply(id, { type: 'edit', changes: { status: 'paid' } }, context)
  return created.order
}
