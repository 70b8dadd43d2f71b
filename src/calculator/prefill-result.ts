import type { Calculation, CalculatorType } from './calculator-data.js'
import type { Vessel } from './vessel.js'

/** Where a filled-in calculator comes from. Dates are written for the reader. */
export interface PrefillSource {
  vessel: Vessel
  madeOn: string
  validUntil: string
  /** The link's own path, and what it is made of */
  url: string
  data: string
  sig: string
}

/** Why a scanned link fills in nothing, in words for a guest. */
export interface PrefillError {
  reason: string
  title: string
  explanation: string
  /** The calculator that the link is for */
  calculatorType: CalculatorType
  /** Where the link does open, if it opens anywhere */
  url: string | null
}

export type PrefillResult =
  { ok: true; calculation: Calculation; origin: PrefillSource } | { ok: false; fault: PrefillError }

/** Reads the query of a scanned link that opens the calculator `type`. Never throws. */
export type ReadPrefill = (
  type: CalculatorType,
  query: { data?: unknown; sig?: unknown },
) => PrefillResult
