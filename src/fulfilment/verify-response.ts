import type { Amount, Charge } from '../provider/offset-order.js'
import { calculatePrice } from '../provider/price.js'

/** Sums of tons that differ by less are the same. */
const LEAST_TONS = 1e-6

/** What an order is for: tons of CO2e, and what they cost. */
export interface Purchase extends Amount {
  tons: number
}

/** What of an order is not what it should be */
export type Difference = 'CO₂e' | 'currency' | 'amount'

export const isSameTons = (a: number, b: number): boolean => Math.abs(a - b) <= LEAST_TONS

/** A charge in its currency, which is the usual one where it comes without. */
export const toAmount = ({ amountMinor, currency }: Charge, usual: string): Amount => ({
  amountMinor,
  currency: currency ?? usual,
})

/**
 * In what the order source's answer differs from what it was asked for.
 *
 * @param asked without an amount where any is right
 */
export function findDifferences(
  asked: Pick<Purchase, 'tons' | 'currency'> & Partial<Purchase>,
  answered: Purchase,
): Difference[] {
  const { amountMinor = answered.amountMinor } = asked
  const differences: Record<Difference, boolean> = {
    'CO₂e': !isSameTons(asked.tons, answered.tons),
    currency: asked.currency !== answered.currency,
    amount: amountMinor !== answered.amountMinor,
  }
  return (Object.keys(differences) as Difference[]).filter((name) => differences[name])
}

/** The price of a tonne may have been rounded, by so many minor units. */
const MOST_ROUNDED = 0.5

/** Whether a price is what so many tons cost at the price of a tonne, as far as that is exact. */
export function isProportionate(
  { tons, amountMinor, currency }: Purchase,
  perTon: Amount,
): boolean {
  const expected = calculatePrice(tons, perTon)
  return (
    expected.currency === currency &&
    Math.abs(expected.amountMinor - amountMinor) <= 1 + tons * MOST_ROUNDED
  )
}
