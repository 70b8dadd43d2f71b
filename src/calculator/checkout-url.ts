import { createHmac } from 'node:crypto'
import type { Calculation } from './calculator-data.js'
import { calculateEstimate } from './estimate.js'
import type { PricedPortfolio } from './offset-offer.js'
import type { Vessel } from './vessel.js'

/** How long a shop may rely on the price */
const VALIDITY_MS = 30 * 60 * 1000

/** What a guest wants to buy carbon credits for. */
export interface Checkout {
  calculation: Calculation
  vessel: Vessel | null
  /** `null` if the guest chose no portfolio, or its price is unavailable */
  offer: PricedPortfolio | null
}

/**
 * Builds the URL of the operator's shop for a trip.
 *
 * @param base CHECKOUT_URL; its own query is kept
 * @param secret signing key; the signature is the HMAC-SHA256, in hexadecimal, of the query that
 *   precedes it
 */
export function buildCheckoutUrl(
  base: string,
  secret: string | undefined,
  { calculation, vessel, offer }: Checkout,
  now = Date.now(),
): string {
  const { calculatorType, calculatorData } = calculation
  const { co2eKg } = calculateEstimate(calculation)
  const url = new URL(base)
  const { searchParams } = url
  searchParams.set('co2eKg', String(Math.round(co2eKg * 1000) / 1000))
  searchParams.set('calculatorType', calculatorType)
  searchParams.set('calculatorData', JSON.stringify(calculatorData))
  if (vessel) searchParams.set('vesselName', vessel.name)
  if (vessel?.imoNumber) searchParams.set('imoNumber', vessel.imoNumber)
  if (offer) {
    searchParams.set('portfolioId', String(offer.id))
    searchParams.set('portfolioName', offer.name)
    searchParams.set('amountMinor', String(offer.amountMinor))
    searchParams.set('currency', offer.currency)
  }
  searchParams.set('expiresAt', new Date(now + VALIDITY_MS).toISOString())
  if (secret !== undefined) {
    const signature = createHmac('sha256', secret).update(searchParams.toString()).digest('hex')
    searchParams.set('signature', signature)
  }
  return url.href
}
