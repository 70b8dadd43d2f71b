/** Money in minor units, such as cents, with its ISO 4217 currency. */
export interface Amount {
  amountMinor: number
  currency: string
}

/** The currency of prices and charges whose currency is not given. */
export const DEFAULT_CURRENCY = 'USD'

/** What the provider charged. */
export interface Charge {
  amountMinor: number
  /** `null` if the provider does not report it; the currency of the portfolio then applies */
  currency: string | null
}
