import { Type } from '@sinclair/typebox'
import type { FieldError } from '../core/validation/field-errors.js'

/**
 * How much of a trip's emissions a guest pays for: a percentage, or the part of some of the guests.
 * The other one is `null`; older orders have no `forGuests`.
 */
export interface Share {
  sharePercent: number | null
  forGuests?: number | null
}

const WHOLE_PERCENT = 100
export const WHOLE_TRIP: Share = { sharePercent: WHOLE_PERCENT, forGuests: null }

export const MAX_PERCENT = 200

export const SharePercent = Type.Integer({
  minimum: 1,
  maximum: MAX_PERCENT,
  description:
    "Share of the trip's emissions to buy credits for, %. What exceeds 100 is an additional contribution",
})

export const ForGuests = Type.Integer({
  minimum: 1,
  description:
    "Number of guests whose part of the trip's emissions to buy credits for; at most the guests of the trip",
})

/**
 * Finds errors in the combination of a share with its trip. Ignores values that the schemas reject.
 *
 * @param guests on board; not a number if unknown
 */
export function findShareErrors(
  { sharePercent, forGuests }: { sharePercent?: unknown; forGuests?: unknown },
  guests: unknown,
): FieldError[] {
  const toErrors = (message: string): FieldError[] => [{ path: 'forGuests', message }]
  if (forGuests == null) return []
  if (sharePercent != null) return toErrors('cannot be combined with sharePercent')
  if (typeof guests !== 'number') return toErrors('needs a trip with guests')
  return Number(forGuests) > guests
    ? toErrors(`must be at most ${guests}, the guests of the trip`)
    : []
}

/**
 * The mass of a share of a trip's emissions, in whole grams. The part of guests is rounded up, so
 * that the parts of all guests are at least the whole trip.
 *
 * @param share valid for the trip
 */
export function getSharedGrams(
  tripKg: number,
  { sharePercent, forGuests = null }: Share,
  guests = 1,
): number {
  if (forGuests === null) return Math.round(tripKg * 1000 * ((sharePercent ?? WHOLE_PERCENT) / 100))
  const grams = BigInt(Math.round(tripKg * 1000)) * BigInt(forGuests)
  const divisor = BigInt(guests)
  return Number((grams + divisor - 1n) / divisor)
}
