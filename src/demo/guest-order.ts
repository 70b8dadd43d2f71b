import { EXAMPLES } from '../calculator/examples.js'
import { calculateEstimate } from '../calculator/estimate.js'
import type { OrderStore } from '../order-store/order-store.js'
import type { Order } from '../orders/order.js'
import { roundToGram } from '../orders/order-mass.js'
import { calculatePriceParts } from '../ordering/price-parts.js'
import { PORTFOLIOS } from '../provider/fake-provider/portfolios.js'

const PORTFOLIO = PORTFOLIOS[1] ?? PORTFOLIOS[0]
const SERVICE_FEE_PERCENT = 5

/**
 * Adds a guest order and its payment. The service then places the order and issues its
 * certificate.
 */
export async function addGuestOrder(store: OrderStore): Promise<Order | null> {
  if (PORTFOLIO === undefined) return null
  const { fuel } = EXAMPLES
  const co2eKg = roundToGram(calculateEstimate(fuel).co2eKg)
  const { pricePerTonMinor, currency } = PORTFOLIO
  const terms = { serviceFee: SERVICE_FEE_PERCENT * 100, minimumMinor: 0 }
  const { amountMinor, ...parts } = calculatePriceParts(
    Math.round(co2eKg * 1000),
    pricePerTonMinor,
    terms,
  )
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
        sharePercent: 100,
        pricePerTonneMinor: pricePerTonMinor,
        ...parts,
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
