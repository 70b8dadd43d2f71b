/** Deterministic random values. */
export interface Random {
  /** From 0 (inclusive) to 1 (exclusive) */
  fraction(): number
  /** Between two numbers, triangular distribution */
  between(min: number, max: number): number
  /** True with this probability */
  chance(probability: number): boolean
  /** One of the values */
  pick<const T>(values: readonly [T, ...T[]]): T
}

/** Mulberry32 by Tommy Ettinger; not cryptographically secure. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  return {
    fraction,
    between: (min, max) => min + ((fraction() + fraction()) / 2) * (max - min),
    chance: (probability) => fraction() < probability,
    pick: <const T>(values: readonly [T, ...T[]]): T =>
      values[Math.floor(fraction() * values.length)] ?? values[0],
  }
}
