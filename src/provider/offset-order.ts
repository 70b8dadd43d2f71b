import type { Amount, Charge } from '../orders/amount.js'

/** A mix of projects, sold by the ton. */
export interface Portfolio {
  id: number
  name: string
  description: string | null
  pricePerTon: Amount | null
  /** `url` is an https page without credentials */
  projects: { name: string; country: string | null; url?: string }[]
}

/** The provider's own proof of an order. */
export interface ProviderCertificate {
  /** Web page of the certificate */
  certificateUrl: string | null
  /** Web page of the retirement in a public registry */
  registryUrl: string | null
  /** Serial numbers of the retired credits */
  serialNumbers: string[]
}

/** An order at the provider. */
export interface OffsetOrder {
  id: string
  tons: number
  amount: Charge | null
  portfolioId: number | null
  note: string | null
  /** As the provider writes it, usually ISO 8601 */
  createdAt: string | null
  certificate: ProviderCertificate
}

export interface OffsetOrders {
  orders: OffsetOrder[]
  /** `false` if something suggests that there are more orders, such as further pages */
  isComplete: boolean
}

export interface NewOffsetOrder {
  tons: number
  portfolioId: number
  note: string
  /** Whether to get a quote and place no order */
  dryRun: boolean
  /** The customer that the order is for; the name appears on the provider's certificate */
  onBehalfOfName?: string
}

export interface PlacedOffsetOrder {
  /** `null` for a quote */
  id: string | null
  tons: number
  amount: Charge
}
