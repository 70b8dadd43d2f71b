import type { Signer } from '../core/config/secrets.js'
import { Problem } from '../core/http/problem.js'
import type { Amount } from '../orders/amount.js'
import { hashJson } from '../orders/order-command.js'
import type { Share } from '../orders/share.js'
import { hashTrip, type OrderedTrip } from './ordered-trip.js'
import {
  getPaidPerTonne,
  priceTrip,
  type GetPriceTerms,
  type Offer,
  type Price,
  type PriceList,
  type PriceResult,
} from './prices.js'

/** A trip, a portfolio, and the share of the trip's emissions to buy credits for. */
export interface QuoteRequest extends OrderedTrip, Share {
  /** `null` for the first portfolio */
  portfolioId: number | null
}

/** The price of an order, valid until `validUntil`. */
export interface Quote extends Price, Share {
  /** `null` without a provider */
  portfolio: { id: number; name: string } | null
  /** ISO 8601 */
  validUntil: string
}

export type QuoteResult =
  | { outcome: 'quoted'; quote: Quote; token: string }
  | { outcome: 'portfolio_not_found' | 'too_small' | 'too_large' }

/** What a share of a trip costs with one of the portfolios. */
export interface OfferPrice {
  portfolio: Offer['portfolio']
  result: PriceResult
}

/** A portfolio, and what a tonne of its credits costs as paid. */
export interface TonneOffer {
  portfolio: Offer['portfolio']
  paidPerTonne: Amount
}

interface Options {
  prices: PriceList
  signer: Signer
  /** Returns the price terms of a currency */
  getTerms: GetPriceTerms
}

const VALID_MS = 30 * 60 * 1000

/**
 * Hashes what a quote is bound to: the trip, the portfolio and the share. `portfolioId` must be the
 * ID of the quoted portfolio; here, `null` means “no provider”, not “the first portfolio”.
 */
const hashSubject = ({
  portfolioId,
  sharePercent,
  forGuests = null,
  ...trip
}: QuoteRequest): string => hashJson([hashTrip(trip), portfolioId, sharePercent, forGuests])

const findOffer = (offers: readonly Offer[], portfolioId: number | null): Offer | undefined =>
  portfolioId === null ? offers[0] : offers.find(({ portfolio }) => portfolio?.id === portfolioId)

/** Calculates prices and signs them, so that they stay valid. */
export function createQuotes({ prices, signer, getTerms }: Options) {
  const encode = (quote: Quote, subject: string): string => {
    const payload = Buffer.from(JSON.stringify({ ...quote, subject })).toString('base64url')
    return `${payload}.${signer.sign(payload)}`
  }

  const toPrices = (offers: readonly Offer[], trip: OrderedTrip, share: Share): OfferPrice[] =>
    offers.map(({ portfolio, pricePerTonne }) => ({
      portfolio,
      result: priceTrip(trip.calculation, pricePerTonne, share, getTerms),
    }))

  const toTonneOffers = (offers: readonly Offer[]): TonneOffer[] =>
    offers.map(({ portfolio, pricePerTonne }) => {
      const amountMinor = getPaidPerTonne(pricePerTonne, getTerms)
      return { portfolio, paidPerTonne: { amountMinor, currency: pricePerTonne.currency } }
    })

  return {
    /** Calculates a price. Throws a Problem (503) if prices are unknown. */
    async create(request: QuoteRequest, now = new Date()): Promise<QuoteResult> {
      const offer = findOffer(await prices.read(), request.portfolioId)
      if (offer === undefined) return { outcome: 'portfolio_not_found' }
      const { portfolio, pricePerTonne } = offer
      const { calculation, sharePercent, forGuests = null } = request
      const result = priceTrip(calculation, pricePerTonne, request, getTerms)
      if (result.outcome !== 'priced') return result
      const quote: Quote = {
        ...result.price,
        sharePercent,
        forGuests,
        portfolio: portfolio && { id: portfolio.id, name: portfolio.name },
        validUntil: new Date(now.getTime() + VALID_MS).toISOString(),
      }
      const subject = hashSubject({ ...request, portfolioId: portfolio?.id ?? null })
      return { outcome: 'quoted', quote, token: encode(quote, subject) }
    },

    /**
     * Returns the quote in a token; `null` if the token was not signed here, is for another request,
     * or has expired.
     */
    read(token: string, request: QuoteRequest, now = new Date()): Quote | null {
      const [payload = '', signature = ''] = token.split('.')
      if (!signer.verify(payload, signature)) return null
      // The payload is signed, so it has the shape that `create` gave it.
      const { subject, ...quote } = JSON.parse(
        Buffer.from(payload, 'base64url').toString(),
      ) as Quote & { subject: string }
      const isValid = subject === hashSubject(request) && now < new Date(quote.validUntil)
      return isValid ? quote : null
    },

    /** Returns what guests can buy. Throws a Problem (503) if prices are unknown. */
    listOffers: async (): Promise<TonneOffer[]> => toTonneOffers(await prices.read()),

    /** Like `listOffers`, but returns `null` if prices are unknown or not quickly available. */
    async listOffersQuickly(): Promise<TonneOffer[] | null> {
      const offers = await prices.readQuickly()
      return offers && toTonneOffers(offers)
    },

    /** Returns the price with each portfolio. Throws a Problem (503) if prices are unknown. */
    list: async (trip: OrderedTrip, share: Share): Promise<OfferPrice[]> =>
      toPrices(await prices.read(), trip, share),

    /** Like `list`, but returns `null` if prices are unknown or not quickly available. */
    async listQuickly(trip: OrderedTrip, share: Share): Promise<OfferPrice[] | null> {
      const offers = await prices.readQuickly()
      return offers && toPrices(offers, trip, share)
    },
  }
}

export type Quotes = ReturnType<typeof createQuotes>

/** Throws a Problem (404) if ordering is off. */
export function requireOrdering(quotes: Quotes | null): Quotes {
  if (quotes === null) throw new Problem(404, 'Ordering is not available here.')
  return quotes
}
