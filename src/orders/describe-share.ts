import type { NumberFormatter } from '../core/formatting/number-formatter.js'
import type { Share } from './share.js'

const WHOLE = 100

/**
 * Describes a share of a trip, for example “50% of the trip”, “100% + 50% additional contribution”
 * or “the part of 2 of 8 guests”.
 *
 * @param guests on board; not a number if unknown
 */
export function describeShare(
  { sharePercent, forGuests }: Share,
  guests: unknown,
  { percent, exact }: NumberFormatter,
): string {
  if (forGuests != null) {
    const part = exact(forGuests)
    return typeof guests === 'number'
      ? `the part of ${part} of ${exact(guests)} guests`
      : `the part of ${part} guests`
  }
  const share = sharePercent ?? WHOLE
  return share > WHOLE
    ? `${percent(1)} + ${percent((share - WHOLE) / 100)} additional contribution`
    : `${percent(share / 100)} of the trip`
}
