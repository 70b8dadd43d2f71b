import { calculatePrice } from '../../orders/amount.js'
import type { FakePortfolio } from './portfolios.js'

export interface LedgerEntry {
  id: string
  createdAt: string
  tons: number
  portfolioId: number
  amountCharged: number
  currency: string
  note: string | null
  onBehalfOfName?: string
  source: 'API'
}

/** Price of an order, minor units. */
export const calculateOrderPrice = (
  tons: number,
  { pricePerTonMinor: amountMinor, currency }: FakePortfolio,
): number => calculatePrice(tons, { amountMinor, currency }).amountMinor

/** The orders of the fake provider and the credit that pays for them. */
export interface Ledger {
  readonly orders: readonly LedgerEntry[]
  /** Remaining credit, minor units */
  credit: number
  /** Adds an order; `null` if the credit is insufficient. */
  add(
    order: Pick<LedgerEntry, 'tons' | 'note' | 'onBehalfOfName'>,
    portfolio: FakePortfolio,
  ): LedgerEntry | null
  /** Adds existing orders, such as demo data. */
  load(entries: LedgerEntry[]): void
}

/** @param firstId the ID of the first order, unless an earlier order has a higher one */
export function createLedger(credit: number, firstId = 1): Ledger {
  const orders: LedgerEntry[] = []
  return {
    orders,
    credit,
    add({ tons, note, onBehalfOfName }, portfolio) {
      const amountCharged = calculateOrderPrice(tons, portfolio)
      if (amountCharged > this.credit) return null
      this.credit -= amountCharged
      const entry: LedgerEntry = {
        id: String(Math.max(firstId - 1, ...orders.map(({ id }) => Number(id) || 0)) + 1),
        createdAt: new Date().toISOString(),
        tons,
        portfolioId: portfolio.id,
        amountCharged,
        currency: portfolio.currency,
        note,
        ...(onBehalfOfName === undefined ? {} : { onBehalfOfName }),
        source: 'API',
      }
      orders.push(entry)
      return entry
    },
    load: (entries) => void orders.push(...entries),
  }
}
