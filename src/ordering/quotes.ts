import { calculateEstimate } from '../calculator/estimate.js'
import type { Signer } from '../config/signer.js'
import type { Share } from '../orders/checkout.js'
import { hashJson } from '../orders/idempotency-hashes.js'
import { Order } from '../orders/order.js'
import { hashTrip, type OrderedTrip } from './ordered-trip.js'
import type { Offer, PriceList } from './price-list.js'
import { calculatePriceParts, type GetPriceTerms, type PriceParts } from './price-parts.js'

/** A trip, the portfolio to offset it with, and the share of its emissions to offset. */
export interface QuoteRequest extends OrderedTrip {
  /** `null` for the first portfolio */
  portfolioId: number | null
  sharePercent: Share
}

/** The price of an order, valid until `validUntil`. */
export interface Quote extends PriceParts {
  currency: string
  pricePerTonneMinor: number
  /** Mass to offset: the share of the trip's emissions, rounded to the gram */
  co2eKg: number
  sharePercent: Share
  /** `null` without a provider */
  portfolio: { id: number; name: string } | null
  /** ISO 8601 */
  validUntil: string
}

export type QuoteResult =
  | { outcome: 'quoted'; quote: Quote; token: string }
  | { outcome: 'portfolio_not_found' | 'too_small' | 'too_large' }

/** What a trip costs with one of the portfolios. */
export interface OfferPrice {
  portfolio: Offer['portfolio']
  amountMinor: number
  currency: string
}

export interface Quotes {
  /** Calculates a price. Throws a Problem (503) if prices are unknown. */
  create(request: QuoteRequest, now?: Date): Promise<QuoteResult>
  /**
   * Returns the quote in a token; `null` if the token was not signed here, is for another request,
   * or has expired.
   */
  read(token: string, request: QuoteRequest, now?: Date): Quote | null
  /** Returns the price with each portfolio. Throws a Problem (503) if prices are unknown. */
  list(trip: OrderedTrip, sharePercent: Share): Promise<OfferPrice[]>
  /**
   * Returns the price with the first portfolio; `null` if it is unknown or not quickly available,
   * or if there is nothing to offset.
   */
  findPriceQuickly(trip: OrderedTrip): Promise<OfferPrice | null>
}

interface Options {
  prices: PriceList
  signer: Signer
  /** Returns the price terms of a currency */
  getTerms: GetPriceTerms
}

const VALID_MS = 30 * 60 * 1000

const MAX_CO2E_KG = Order.properties.co2eKg.maximum ?? Infinity
const MAX_AMOUNT_MINOR = Order.properties.amountMinor.maximum ?? Infinity

/**
 * Hashes what a quote is bound to: the trip, the portfolio and the share. `portfolioId` must be the
 * ID of the quoted portfolio; here, `null` means “no provider”, not “the first portfolio”.
 */
const hashSubject = ({ portfolioId, sharePercent, ...trip }: QuoteRequest): string =>
  hashJson([hashTrip(trip), portfolioId, sharePercent])

const findOffer = (offers: readonly Offer[], portfolioId: number | null): Offer | undefined =>
  portfolioId === null ? offers[0] : offers.find(({ portfolio }) => portfolio?.id === portfolioId)

/** The mass to offset, in whole grams. */
const getGrams = ({ calculation }: OrderedTrip, sharePercent: Share): number =>
  Math.round(calculateEstimate(calculation).co2eKg * 1000 * (sharePercent / 100))

/** Calculates prices and signs them, so that they stay valid. */
export function createQuotes({ prices, signer, getTerms }: Options): Quotes {
  const encode = (quote: Quote, subject: string): string => {
    const payload = Buffer.from(JSON.stringify({ ...quote, subject })).toString('base64url')
    return `${payload}.${signer.sign(payload)}`
  }

  const getParts = (grams: number, { pricePerTonne }: Offer): PriceParts =>
    calculatePriceParts(grams, pricePerTonne.amountMinor, getTerms(pricePerTonne.currency))

  const toPrice = (grams: number, offer: Offer): OfferPrice => ({
    portfolio: offer.portfolio,
    amountMinor: getParts(grams, offer).amountMinor,
    currency: offer.pricePerTonne.currency,
  })

  return {
    async create(request, now = new Date()) {
      const offer = findOffer(await prices.read(), request.portfolioId)
      if (offer === undefined) return { outcome: 'portfolio_not_found' }
      const { portfolio, pricePerTonne } = offer
      const { sharePercent } = request
      const grams = getGrams(request, sharePercent)
      const co2eKg = grams / 1000
      if (grams <= 0) return { outcome: 'too_small' }
      if (co2eKg > MAX_CO2E_KG) return { outcome: 'too_large' }
      const parts = getParts(grams, offer)
      const { maximumMinor = Infinity } = getTerms(pricePerTonne.currency)
      if (parts.amountMinor > Math.min(MAX_AMOUNT_MINOR, maximumMinor))
        return { outcome: 'too_large' }
      const quote: Quote = {
        ...parts,
        currency: pricePerTonne.currency,
        pricePerTonneMinor: pricePerTonne.amountMinor,
        co2eKg,
        sharePercent,
        portfolio: portfolio && { id: portfolio.id, name: portfolio.name },
        validUntil: new Date(now.getTime() + VALID_MS).toISOString(),
      }
      const subject = hashSubject({ ...request, portfolioId: portfolio?.id ?? null })
      return { outcome: 'quoted', quote, token: encode(quote, subject) }
    },

    read(token, request, now = new Date()) {
      const [payload = '', signature = ''] = token.split('.')
      if (!signer.verify(payload, signature)) return null
      // The payload is signed, so it has the shape that `create` gave it.
      const { subject, ...quote } = JSON.parse(
        Buffer.from(payload, 'base64url').toString(),
      ) as Quote & { subject: string }
      const isValid = subject === hashSubject(request) && now < new Date(quote.validUntil)
      return isValid ? quote : null
    },

    async list(trip, sharePercent) {
      const grams = Math.max(getGrams(trip, sharePercent), 0)
      return (await prices.read()).map((offer) => toPrice(grams, offer))
    },

    async findPriceQuickly(trip) {
      const [offer] = (await prices.readQuickly()) ?? []
      const grams = getGrams(trip, 100)
      return offer === undefined || grams <= 0 ? null : toPrice(grams, offer)
    },
  }
}
