import { type GetPriceTerms, getPaidPerTonne, priceMass, type PriceResult } from '../price-trip.js'
import type { PricedPortfolio } from '../../provider/provider.js'
import { truncateText } from '../../core/formatting/truncate-text.js'
import type { Formatters } from '../../core/formatting/formatters.js'

const MAX_NAME_LENGTH = 120

/** The data from which prices are suggested. */
export interface Pricing {
  /** `null` if the provider's prices are unavailable */
  portfolios: readonly PricedPortfolio[] | null
  /** Service fee added to the provider's price, in percent */
  feePercent: number
  getTerms: GetPriceTerms
}

/** The price of the chosen portfolio; `null` if there is no portfolio or no CO2e. */
export function suggestPrice(
  { portfolios, getTerms }: Pricing,
  portfolioId: string,
  co2eKg: unknown,
): PriceResult | null {
  const portfolio = portfolios?.find(({ id }) => String(id) === portfolioId)
  if (portfolio === undefined || typeof co2eKg !== 'number' || co2eKg <= 0) return null
  return priceMass(Math.round(co2eKg * 1000), portfolio.pricePerTon, getTerms)
}

/** The options of the portfolio field, with the price per tonne as customers pay it. */
export const buildPortfolioChoices = (
  { portfolios, getTerms }: Pricing,
  selectedId: string,
  format: Formatters,
) =>
  (portfolios ?? []).map(({ id, name, pricePerTon }) => ({
    id,
    label: `${truncateText(name, MAX_NAME_LENGTH)}, ${format.money(getPaidPerTonne(pricePerTon, getTerms), pricePerTon.currency)} per tonne`,
    isSelected: String(id) === selectedId,
  }))

interface Suggestion {
  price: PriceResult | null
  portfolioId: string
  /** Whether the form contains the suggested amount */
  isUsed: boolean
}

/** Explains the suggested price; empty if no portfolio is chosen. */
export function describeSuggestion(
  { portfolios, feePercent }: Pricing,
  { price, portfolioId, isUsed }: Suggestion,
  format: Formatters,
): string {
  if (portfolios === null)
    return 'The provider’s prices are unavailable. Enter the amount yourself.'
  if (portfolioId === '') return ''
  if (price === null) return 'Enter the CO₂e to get a suggested amount.'
  const fee = feePercent > 0 ? `, including a service fee of ${format.exact(feePercent)}%` : ''
  if (price.outcome !== 'priced') {
    return `The price would be too ${price.outcome === 'too_large' ? 'large' : 'small'} to be paid. Enter the amount yourself.`
  }
  const amount = format.money(price.price.amountMinor, price.price.currency)
  return isUsed
    ? `Suggested from the portfolio${fee}. You can enter another amount.`
    : `The portfolio suggests ${amount}${fee}. Clear the amount to use it.`
}
