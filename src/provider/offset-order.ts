/** Money in minor units, such as cents, with its ISO 4217 currency. */
export interface Amount {
  amountMinor: number
  currency: string
}

/** The currency of prices and charges for which nothing says another. */
export const DEFAULT_CURRENCY = 'USD'

/** What an order is charged with. */
export interface Charge {
  amountMinor: number
  /** `null` where the order source does not say: then it is that of the portfolio */
  currency: string | null
}

export interface OffsetProject {
  id: string
  name: string
  description: string | null
  kind: string | null
  country: string | null
  /** Its part of the portfolio, 0 to 1 */
  share: number | null
}

/** What can be offset with. */
export interface Portfolio {
  id: number
  name: string
  description: string | null
  pricePerTon: Amount | null
  projects: OffsetProject[]
}

export interface OffsetOrder {
  id: string
  tons: number
  amount: Charge | null
  portfolioId: number | null
  note: string | null
  /** As the order source writes it: ISO 8601, as a rule */
  createdAt: string | null
}

/** The orders that an order source lists. */
export interface OffsetOrders {
  orders: OffsetOrder[]
  /** Nothing hints at orders that are not in it, such as further pages */
  isWhole: boolean
}

export interface NewOffsetOrder {
  tons: number
  portfolioId: number
  note: string
  /** Asks for the price only */
  dryRun: boolean
}

export interface PlacedOffsetOrder {
  /** `null` where only the price was asked for */
  id: string | null
  tons: number
  amount: Charge
}
