interface Options {
  firstMs: number
  longestMs: number
}

/**
 * How long to wait after one failure more: twice as long each time, up to a limit, by chance
 * between half of that and all of it, so that several processes do not come back as one.
 */
export function getBackOffMs({ firstMs, longestMs }: Options) {
  let failures = 0
  return {
    /** Counts a failure; tells how long to wait, ms. */
    failed(): number {
      const longest = Math.min(firstMs * 2 ** Math.min(failures++, 30), longestMs)
      return longest * (0.5 + Math.random() / 2)
    },
    succeeded(): void {
      failures = 0
    },
  }
}
