import { type Amount, type Charge, calculatePrice } from './amount.js'

const TONS_TOLERANCE = 1e-6

/** Tonnes of CO2e and their price. */
export interface Purchase extends Amount {
  tons: number
  /** Missing if it is not known */
  portfolioId?: number
}

/** A property of a purchase that differs. Pages show these names. */
export type Difference = 'CO₂e' | 'currency' | 'amount' | 'portfolio'

export const isSameTons = (a: number, b: number): boolean => Math.abs(a - b) <= TONS_TOLERANCE

/** Adds the currency to a charge if the provider leaves it out. */
export const toAmount = ({ amountMinor, currency }: Charge, defaultCurrency: string): Amount => ({
  amountMinor,
  currency: currency ?? defaultCurrency,
})

/**
 * Finds the differences between the provider's response and the request.
 *
 * @param expected leave out `amountMinor` to accept any price
 */
export function findDifferences(
  expected: Pick<Purchase, 'tons' | 'currency'> & Partial<Purchase>,
  actual: Purchase,
): Difference[] {
  const { amountMinor = actual.amountMinor, portfolioId = actual.portfolioId } = expected
  const differences: Record<Difference, boolean> = {
    'CO₂e': !isSameTons(expected.tons, actual.tons),
    currency: expected.currency !== actual.currency,
    amount: amountMinor !== actual.amountMinor,
    portfolio: (actual.portfolioId ?? portfolioId) !== portfolioId,
  }
  return (Object.keys(differences) as Difference[]).filter((name) => differences[name])
}

/** Maximum rounding error of a price per tonne, in minor units. */
const MAX_ROUNDING_ERROR = 0.5

/** Whether a price is the price per tonne times the tonnes, within the rounding error. */
export function isProportionate(
  { tons, amountMinor, currency }: Purchase,
  perTon: Amount,
): boolean {
  const expected = calculatePrice(tons, perTon)
  return (
    expected.currency === currency &&
    Math.abs(expected.amountMinor - amountMinor) <= 1 + tons * MAX_ROUNDING_ERROR
  )
}
