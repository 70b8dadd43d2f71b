import type { Calculation, CalculatorType } from './calculator-data.js'
import type { Vessel } from './vessel.js'

/** The scanned link that a calculator was filled in from. Dates are formatted for display. */
export interface PrefillSource {
  vessel: Vessel
  createdOn: string
  validUntil: string
  /** Path and query of the link */
  url: string
  /** The two parameters in the query of `url` */
  data: string
  sig: string
}

/** Why a scanned link was rejected, as text for guests. */
export interface PrefillError {
  reason: string
  title: string
  explanation: string
  /** The calculator that the link is for */
  calculatorType: CalculatorType
  /** Path of the calculator where the link is valid; `null` if there is none */
  url: string | null
}

export type PrefillResult =
  { ok: true; calculation: Calculation; source: PrefillSource } | { ok: false; error: PrefillError }

/** Reads the query of a scanned link that opens the calculator `type`. Never throws. */
export type ReadPrefill = (
  type: CalculatorType,
  query: { data?: unknown; sig?: unknown },
) => PrefillResult

declare module 'fastify' {
  interface FastifyInstance {
    /** Reads a link that fills in a calculator; the QR codes provide it */
    readPrefill: ReadPrefill
  }
}
