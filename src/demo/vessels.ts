import { createRandom } from './random.js'
import type { Trade } from './customers.js'

/** How many vessels of a trade have an IMO number: those of more than 100 gross tonnes. */
const NUMBERED: Record<Trade, number> = { yacht: 0.1, charter: 0.4, ferry: 1 }

/** Six digits with their check digit behind them (IMO resolution A.1117(30)). */
function imoNumberOf(six: number): string {
  const digits = Array.from(String(six), Number)
  const sum = digits.reduce((total, digit, i) => total + digit * (7 - i), 0)
  return `${six}${sum % 10}`
}

/** A number that goes with a name, the same each time (FNV-1a). */
function seedOf(name: string): number {
  let hash = 0x811c9dc5
  for (const character of name) {
    hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  }
  return hash >>> 0
}

/** A vessel's IMO number, the same in each of its orders; `null` where it has none. */
export function createImoNumber(vesselName: string, trade: Trade): string | null {
  const own = createRandom(seedOf(vesselName))
  return own.happens(NUMBERED[trade])
    ? imoNumberOf(900_000 + Math.floor(own.share() * 89_999))
    : null
}
