import { calculatePrice } from '../price.js'
import type { FakePortfolio } from './portfolios.js'

export interface LedgerEntry {
  id: string
  createdAt: string
  tons: number
  portfolioId: number
  amountCharged: number
  currency: string
  note: string | null
  source: 'API'
}

/** The price of so many tons, in minor units, rounded up. */
export const calculateOrderPrice = (
  tons: number,
  { pricePerTonMinor: amountMinor, currency }: FakePortfolio,
): number => calculatePrice(tons, { amountMinor, currency }).amountMinor

/** The offset orders that a stand-in has taken, and the credit that they are paid from. */
export interface Ledger {
  readonly orders: readonly LedgerEntry[]
  /** Minor units left */
  credit: number
  /** Takes an order and its price; `null` where the credit does not reach. */
  add(order: Pick<LedgerEntry, 'tons' | 'note'>, portfolio: FakePortfolio): LedgerEntry | null
  /** Has orders that were taken before. */
  enter(entries: LedgerEntry[]): void
}

/** An empty ledger. */
export function createLedger(credit: number): Ledger {
  const orders: LedgerEntry[] = []
  const nextId = () => String(Math.max(0, ...orders.map(({ id }) => Number(id) || 0)) + 1)
  return {
    orders,
    credit,
    add({ tons, note }, portfolio) {
      const amountCharged = calculateOrderPrice(tons, portfolio)
      if (amountCharged > this.credit) return null
      this.credit -= amountCharged
      const entry: LedgerEntry = {
        id: nextId(),
        createdAt: new Date().toISOString(),
        tons,
        portfolioId: portfolio.id,
        amountCharged,
        currency: portfolio.currency,
        note,
        source: 'API',
      }
      orders.push(entry)
      return entry
    },
    enter: (entries) => void orders.push(...entries),
  }
}
