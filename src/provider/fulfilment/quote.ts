import { randomBytes } from 'node:crypto'
import type { Order } from '../../orders/order.js'
import type { OffsetOrderSource } from '../order-source-client.js'
import { DEFAULT_CURRENCY } from '../../orders/amount.js'
import { getValue, type QuoteResult } from './results.js'
import { findDifferences, toAmount } from '../../orders/verify-response.js'

const REFERENCE_BYTES = 8

export const createReference = (): string => randomBytes(REFERENCE_BYTES).toString('hex')

/** Tonnes of CO2e of an order. */
export const getTons = ({ co2eKg }: Pick<Order, 'co2eKg'>): number =>
  Number((co2eKg / 1000).toPrecision(15))

/** Requests the price of an order with a portfolio; nothing is ordered. */
export async function requestQuote(
  source: OffsetOrderSource,
  order: Order,
  portfolioId: number,
): Promise<QuoteResult> {
  const portfolios = getValue(await source.listPortfolios())
  if (!('value' in portfolios)) return portfolios
  const portfolio = portfolios.value.find(({ id }) => id === portfolioId)
  if (portfolio === undefined) return { outcome: 'portfolio_not_found' }
  const tons = getTons(order)
  const response = getValue(
    await source.placeOrder(
      { tons, portfolioId, note: order.orderNumber, dryRun: true },
      createReference(),
    ),
  )
  if (!('value' in response)) return response
  const { id, amount } = response.value
  if (id !== null) return { outcome: 'unexpected_order', id }
  const currency = portfolio.pricePerTon?.currency ?? amount.currency ?? DEFAULT_CURRENCY
  const price = toAmount(amount, currency)
  const quoted = { ...price, tons: response.value.tons }
  const requested = { amountMinor: price.amountMinor, currency, tons }
  const differences = findDifferences(requested, quoted)
  return differences.length > 0
    ? { outcome: 'quote_mismatch', differences, requested, quoted }
    : { outcome: 'quoted', portfolio, price }
}
