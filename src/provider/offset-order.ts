import type { Amount, Charge } from '../orders/amount.js'

export const METHODS = ['avoidance', 'removal'] as const

/** Text and links are the provider's: untrusted. What the provider does not say is absent. */
export interface Project {
  id: string
  name: string
  country: string | null
  /** `url` and `registryUrl` are https pages without credentials */
  url?: string
  description?: string
  /** Type of project, in the provider's words */
  kind?: string
  /** Share of the portfolio, 0 to 1 */
  share?: number
  /** Whether it prevents emissions, or removes CO2 from the air */
  method?: (typeof METHODS)[number]
  standard?: string
  registry?: string
  registryUrl?: string
  vintage?: string
  /** For a fetch by the server only: http or https */
  imageUrl?: string
}

/** A mix of projects, sold by the ton. */
export interface Portfolio {
  id: number
  name: string
  description: string | null
  pricePerTon: Amount | null
  projects: Project[]
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
