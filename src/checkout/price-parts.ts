/** How the price of an order is made up, in minor units. */
export interface PriceParts {
  offsetMinor: number
  serviceFeeMinor: number
  /** The sum: what the guest pays */
  amountMinor: number
}

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

const GRAMS_PER_TONNE = 1_000_000n
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
): PriceParts {
  const offset = divideUp(BigInt(grams) * BigInt(pricePerTonneMinor), GRAMS_PER_TONNE)
  const fee = divide(offset * BigInt(serviceFee), WHOLE)
  const offsetMinor = Number(offset)
  const amountMinor =
    Math.ceil(Math.max(Number(offset + fee), minimumMinor) / stepMinor) * stepMinor
  return { offsetMinor, serviceFeeMinor: amountMinor - offsetMinor, amountMinor }
}

/** Returns the price terms of a currency. */
export type GetPriceTerms = (currency: string) => PriceTerms
