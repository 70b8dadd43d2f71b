import { isCalculatorType, type Calculation } from '../calculator/calculator-data.js'
import { parseCalculatorForm, toFormFields } from '../calculator/calculator-form.js'
import type { PrefillError, PrefillResult, ReadPrefill } from '../calculator/read-prefill.js'
import type { Vessel } from '../calculator/vessel.js'
import { hashJson } from '../orders/order-command.js'
import type { Share } from '../orders/share.js'

/** A trip whose offset is ordered. */
export interface OrderedTrip {
  calculation: Calculation
  /** In orders, a vessel always comes from a signed link */
  vessel: Vessel | null
}

/**
 * The parameters of /offset: the data and signature of a signed link, or a calculator and its
 * fields.
 */
export type TripFields = Record<string, string>

export type TripResult =
  | { outcome: 'valid'; trip: OrderedTrip; fields: TripFields }
  | { outcome: 'invalid_link'; error: PrefillError }
  /** `calculatorType` is the calculator of the incomplete or invalid form */
  | { outcome: 'invalid_form'; calculatorType: string }
  | { outcome: 'empty' }

type Query = Record<string, unknown>

/** Hashes a trip, so that signatures can be bound to it. */
export const hashTrip = ({ calculation, vessel }: OrderedTrip): string =>
  hashJson([calculation.calculatorType, calculation.calculatorData, vessel])

/**
 * The parameters of a trip that the guest entered. The vessel comes from the signed link, if there
 * is one.
 */
export const toTripFields = (
  calculation: Calculation,
  link: { data: string; sig: string } | null,
): TripFields => ({
  type: calculation.calculatorType,
  ...toFormFields(calculation),
  ...(link && { code: link.data, codeSig: link.sig }),
})

/** The query of the order form for a trip, a portfolio and a share. */
export function toFormQuery(
  fields: TripFields,
  { portfolioId, sharePercent, forGuests }: Share & { portfolioId: number | null },
): string {
  const query = new URLSearchParams(fields)
  if (portfolioId !== null) query.set('portfolioId', String(portfolioId))
  if (forGuests != null) query.set('forGuests', String(forGuests))
  else if (sharePercent !== null) query.set('sharePercent', String(sharePercent))
  return query.toString()
}

/** Reads a signed link of any calculator type. */
function readLink(readPrefill: ReadPrefill, { data, sig }: Query): PrefillResult {
  const result = readPrefill('fuel', { data, sig })
  return !result.ok && result.error.reason === 'wrong_type'
    ? readPrefill(result.error.calculatorType, { data, sig })
    : result
}

/**
 * Reads the trip in a query or a form. Vessels are only read from signed links.
 *
 * @param decimalSign how to read numbers such as `1,234`, which are errors without it
 */
export function readTrip(
  readPrefill: ReadPrefill,
  query: Query,
  decimalSign: '.' | undefined,
): TripResult {
  if (query.data !== undefined || query.sig !== undefined) {
    const link = readLink(readPrefill, query)
    if (!link.ok) return { outcome: 'invalid_link', error: link.error }
    const { vessel, data, sig } = link.source
    return {
      outcome: 'valid',
      trip: { calculation: link.calculation, vessel },
      fields: { data, sig },
    }
  }
  const { type, code, codeSig } = query
  if (typeof type !== 'string' || !isCalculatorType(type)) return { outcome: 'empty' }
  const { calculation } = parseCalculatorForm(type, query, { decimalSign })
  if (calculation === null) return { outcome: 'invalid_form', calculatorType: type }
  const link = code === undefined ? null : readLink(readPrefill, { data: code, sig: codeSig })
  const source = link?.ok === true ? link.source : null
  return {
    outcome: 'valid',
    trip: { calculation, vessel: source?.vessel ?? null },
    fields: toTripFields(calculation, source),
  }
}
