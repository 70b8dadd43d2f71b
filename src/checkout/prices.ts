import { setTimeout as sleep } from 'node:timers/promises'
import type { Calculation } from '../calculator/calculator-data.js'
import { calculateEstimate } from '../calculator/estimate.js'
import { Problem } from '../core/http/problem.js'
import { isCurrency } from '../core/validation/formats.js'
import type { Amount } from '../orders/amount.js'
import { Order } from '../orders/order.js'
import { getSharedGrams, type Share } from '../orders/share.js'
import type { Portfolio } from '../provider/offset-order.js'
import type { OffsetOrderSource } from '../provider/order-source-client.js'

/** What guests can order, and its price. */
export interface Offer {
  /** `null` without a provider */
  portfolio: Pick<Portfolio, 'id' | 'name' | 'description' | 'projects'> | null
  pricePerTonne: Amount
}

/** The offers, the provider's default first; at least one. */
type Offers = readonly [Offer, ...Offer[]]

/** Prices that are older than this are reloaded, but are used until the new ones are available. */
const FRESH_MS = 60_000
/** Prices that are older than this count as unknown. Equals the validity of a quote. */
const MAX_AGE_MS = 30 * 60_000
/** Pause before the next attempt after prices could not be read. */
const RETRY_MS = 10_000
const MAX_DELAY_MS = 300

const isPrice = ({ amountMinor, currency }: Amount): boolean =>
  Number.isSafeInteger(amountMinor) && amountMinor > 0 && isCurrency(currency)

/**
 * Converts portfolios to offers. Portfolios without a price of their own get `price`, if there is
 * one.
 */
const toOffers = (portfolios: readonly Portfolio[], price: Amount | null): Offer[] =>
  portfolios.flatMap(({ pricePerTon, ...portfolio }) => {
    const pricePerTonne = pricePerTon ?? price
    return pricePerTonne !== null && isPrice(pricePerTonne) ? [{ portfolio, pricePerTonne }] : []
  })

const isNotEmpty = (offers: Offer[]): offers is [Offer, ...Offer[]] => offers.length > 0

/**
 * Lists what guests can order; `null` if there is neither a provider nor a price.
 *
 * @param price per tonne of CO2e; used if there is no provider, and for portfolios without a price
 */
export function createPriceList(
  source: Pick<OffsetOrderSource, 'listPortfolios'> | null,
  price: Amount | null,
): PriceList | null {
  if (source !== null) return createProviderPriceList(source, price)
  if (price === null) return null
  const offers: Offers = [{ portfolio: null, pricePerTonne: price }]
  return { read: async () => offers, readQuickly: async () => offers }
}

function createProviderPriceList(
  source: Pick<OffsetOrderSource, 'listPortfolios'>,
  price: Amount | null,
) {
  let known: { offers: Offers; readAt: number } | null = null
  let reading: Promise<void> | null = null
  let failedAt = -Infinity

  /** Never throws: on an error, the prices are unchanged. */
  async function refresh(): Promise<void> {
    const response = await source.listPortfolios().catch(() => null)
    const offers = response?.outcome === 'ok' ? toOffers(response.value, price) : []
    if (isNotEmpty(offers)) known = { offers, readAt: performance.now() }
    else failedAt = performance.now()
  }

  /** Reads the prices once for all concurrent callers. */
  function refreshOnce(): Promise<void> {
    if (performance.now() - failedAt < RETRY_MS) return Promise.resolve()
    reading ??= refresh().finally(() => (reading = null))
    return reading
  }

  function getOffers(maxAgeMs: number): Offers | null {
    return known !== null && performance.now() - known.readAt < maxAgeMs ? known.offers : null
  }

  async function read(waitForRefresh: () => Promise<unknown>): Promise<Offers | null> {
    const fresh = getOffers(FRESH_MS)
    if (fresh !== null) return fresh
    const older = getOffers(MAX_AGE_MS)
    if (older === null) await waitForRefresh()
    else void refreshOnce()
    return getOffers(MAX_AGE_MS)
  }

  return {
    /** Returns the offers. Throws a Problem (503) if their prices are unknown. */
    async read(): Promise<Offers> {
      const offers = await read(refreshOnce)
      if (offers !== null) return offers
      throw new Problem(
        503,
        'Offset prices are unavailable at the moment. Try again in a minute.',
        {
          headers: { 'retry-after': '60' },
        },
      )
    },
    /** Returns the offers; `null` if that would take too long, or if their prices are unknown. */
    readQuickly: (): Promise<Offers | null> =>
      read(() => Promise.race([refreshOnce(), sleep(MAX_DELAY_MS)])),
  }
}

export type PriceList = ReturnType<typeof createProviderPriceList>

interface PriceTerms {
  /** Hundredths of a percent: 250 is 2.5% */
  serviceFee: number
  /** Smallest amount; 0 for none */
  minimumMinor: number
  /** Amounts are multiples of this; 1 if omitted */
  stepMinor?: number
  /** Largest amount, if there is one */
  maximumMinor?: number
}

/** Returns the price terms of a currency. */
export type GetPriceTerms = (currency: string) => PriceTerms

/** What an order costs. Amounts are in minor units. */
export interface Price {
  offsetMinor: number
  serviceFeeMinor: number
  /** The sum: what the guest pays */
  amountMinor: number
  currency: string
  /** The price of a tonne of credits, without the service fee */
  pricePerTonneMinor: number
  /**
   * What a tonne costs as paid: with the service fee, but without the minimum and the steps, which
   * apply to a whole order
   */
  paidPerTonneMinor: number
  /** Whether the service fee was increased to reach the minimum */
  isMinimum: boolean
  /** Mass of the credits, to the gram */
  co2eKg: number
}

/** A price; or why there is none that a customer can pay. */
export type PriceResult =
  { outcome: 'priced'; price: Price } | { outcome: 'too_small' | 'too_large' }

const GRAMS_PER_TONNE = 1_000_000
const MAX_GRAMS = (Order.properties.co2eKg.maximum ?? Infinity) * 1000
const MAX_AMOUNT_MINOR = Order.properties.amountMinor.maximum ?? Infinity

/** 100% in hundredths of a percent */
const WHOLE = 10_000n

/** Divides a non-negative value and rounds up. */
const divideUp = (value: bigint, divisor: bigint): bigint => (value + divisor - 1n) / divisor

/** Divides a non-negative value and rounds half up. */
const divide = (value: bigint, divisor: bigint): bigint => (2n * value + divisor) / (2n * divisor)

/**
 * Calculates what a customer pays for a mass of credits. Their price is rounded up to the minor
 * unit, as the provider also does, so that the customer never pays less than the provider
 * charges. The service fee is rounded half up. If the price is below the minimum or between two
 * steps, the service fee is increased to reach the minimum or the next step. Pure.
 *
 * @param grams a whole number
 * @param pricePerTonneMinor a whole number of minor units
 */
export function calculatePriceParts(
  grams: number,
  pricePerTonneMinor: number,
  { serviceFee, minimumMinor, stepMinor = 1 }: PriceTerms,
) {
  const offset = divideUp(BigInt(grams) * BigInt(pricePerTonneMinor), BigInt(GRAMS_PER_TONNE))
  const fee = divide(offset * BigInt(serviceFee), WHOLE)
  const offsetMinor = Number(offset)
  const amountMinor =
    Math.ceil(Math.max(Number(offset + fee), minimumMinor) / stepMinor) * stepMinor
  return { offsetMinor, serviceFeeMinor: amountMinor - offsetMinor, amountMinor }
}

/** What a mass costs with the service fee, but without minimum and steps, in minor units. */
const getUnlimitedAmount = (grams: number, pricePerTonneMinor: number, serviceFee: number) =>
  calculatePriceParts(grams, pricePerTonneMinor, { serviceFee, minimumMinor: 0 }).amountMinor

/** What a tonne costs as paid, in minor units. */
export const getPaidPerTonne = (
  { amountMinor, currency }: Amount,
  getTerms: GetPriceTerms,
): number => getUnlimitedAmount(GRAMS_PER_TONNE, amountMinor, getTerms(currency).serviceFee)

/** Tells a customer why there is no price. */
export const describeNoPrice = ({ outcome }: { outcome: string }): string =>
  outcome === 'too_small'
    ? 'This is too small to be ordered here.'
    : 'This is too large to be ordered here at once. You can order a smaller share.'

/**
 * Prices a mass. All prices that a customer sees come from here. Pure.
 *
 * @param grams a whole number
 * @param pricePerTonne what the credits cost per tonne of CO2e
 */
export function priceMass(
  grams: number,
  pricePerTonne: Amount,
  getTerms: GetPriceTerms,
): PriceResult {
  if (grams <= 0) return { outcome: 'too_small' }
  if (grams > MAX_GRAMS) return { outcome: 'too_large' }
  const { amountMinor: pricePerTonneMinor, currency } = pricePerTonne
  const terms = getTerms(currency)
  const { serviceFee, minimumMinor, maximumMinor = Infinity } = terms
  const parts = calculatePriceParts(grams, pricePerTonneMinor, terms)
  if (parts.amountMinor > Math.min(MAX_AMOUNT_MINOR, maximumMinor)) return { outcome: 'too_large' }
  const price: Price = {
    ...parts,
    currency,
    pricePerTonneMinor,
    paidPerTonneMinor: getPaidPerTonne(pricePerTonne, getTerms),
    isMinimum: getUnlimitedAmount(grams, pricePerTonneMinor, serviceFee) < minimumMinor,
    co2eKg: grams / 1000,
  }
  return { outcome: 'priced', price }
}

/**
 * Prices a share of a trip's emissions. Pure.
 *
 * @param share valid for the trip
 */
export function priceTrip(
  trip: Calculation,
  pricePerTonne: Amount,
  share: Share,
  getTerms: GetPriceTerms,
): PriceResult {
  const grams = getSharedGrams(calculateEstimate(trip).co2eKg, share, trip.calculatorData.guests)
  return priceMass(grams, pricePerTonne, getTerms)
}
