import { createRandom } from './random.js'
import type { Trade } from './customers.js'

/** Share of each trade's vessels that have an IMO number (those above 100 gross tonnage). */
const IMO_NUMBER_SHARES: Record<Trade, number> = { yacht: 0.1, charter: 0.4, ferry: 1 }

/** Appends the check digit to six digits (IMO resolution A.1117(30)). */
function addCheckDigit(six: number): string {
  const digits = Array.from(String(six), Number)
  const sum = digits.reduce((total, digit, i) => total + digit * (7 - i), 0)
  return `${six}${sum % 10}`
}

/** Hashes a name (FNV-1a). */
function hashName(name: string): number {
  let hash = 0x811c9dc5
  for (const character of name) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  return hash >>> 0
}

/** The IMO number of a vessel, the same in each of its orders; `null` if it has none. */
export function createImoNumber(vesselName: string, trade: Trade): string | null {
  const random = createRandom(hashName(vesselName))
  return random.chance(IMO_NUMBER_SHARES[trade])
    ? addCheckDigit(900_000 + Math.floor(random.fraction() * 89_999))
    : null
}
