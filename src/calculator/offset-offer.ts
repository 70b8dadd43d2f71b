import type { Calculation } from './calculator-data.js'
import type { PrefillSource } from './prefill.js'

/** Where a guest can order the offset of a result. */
export interface OffsetOffer {
  /** Path and query */
  url: string
  /** The URL parameter for the portfolio ID */
  portfolioParameter: string
  /** The price, formatted; `null` if it is currently unknown */
  price: string | null
}

/** A result, and the scanned link that it was calculated from. */
export interface OfferedResult {
  calculation: Calculation
  source: (PrefillSource & { isEdited: boolean }) | null
  /** BCP 47 tag */
  locale: string
}

/** Returns where the offset of a result can be ordered. Never throws. */
export type FindOffsetOffer = (result: OfferedResult) => Promise<OffsetOffer>
