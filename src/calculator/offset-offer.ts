import type { Calculation } from './calculator-data.js'
import type { PrefillSource } from './prefill.js'

/** Where a guest can order the offset of a result. */
export interface OffsetOffer {
  /** Path and query */
  url: string
  /** The parameter of the URL that takes the ID of a portfolio */
  portfolioParameter: string
  /** What it costs, formatted; `null` if that is not known at the moment */
  price: string | null
}

/** A result, and the scanned link that it was calculated from. */
export interface OfferedResult {
  calculation: Calculation
  source: (PrefillSource & { isEdited: boolean }) | null
  /** BCP 47 tag */
  locale: string
}

/** Finds out where to order the offset of a result. Never throws. */
export type FindOffsetOffer = (result: OfferedResult) => Promise<OffsetOffer>
