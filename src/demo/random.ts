/** A source of chance that gives the same for the same seed. */
export interface Random {
  /** From 0 up to 1 */
  share(): number
  /** From one number up to another, more often near the middle */
  about(least: number, most: number): number
  /** True this often */
  happens(probability: number): boolean
  /** One of some values */
  of<const T>(values: readonly [T, ...T[]]): T
}

/** Mulberry32, by Tommy Ettinger: small, and good enough for what only has to look random. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const share = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    share,
    about: (least, most) => least + ((share() + share()) / 2) * (most - least),
    happens: (probability) => share() < probability,
    of: <const T>(values: readonly [T, ...T[]]): T =>
      values[Math.floor(share() * values.length)] ?? values[0],
  }
}
