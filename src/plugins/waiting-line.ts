interface Waiting {
  since: number
  serve: () => void
  refuse: () => void
}

/** For so long requests are served as they come, in each turn of the event loop. */
const AT_ONCE_MS = 1
/** Refusals in one turn: many, as each costs little. */
const MOST_REFUSED_AT_ONCE = 100

/**
 * A line for requests, where more come than can be served as they come: first come, first served,
 * and whoever `isInTime` finds to have waited too long is refused.
 *
 * Without it all would be served in one turn of the event loop. As a turn takes in one new
 * connection only, others would wait outside for as many turns, unseen and however short their wish.
 */
export function waitingLine(isInTime: (waitedMs: number) => boolean) {
  const line: Waiting[] = []
  let turnBegan: number | null = null

  /** Whether this turn has time left; it begins with the first who asks. */
  function hasTime(now: number): boolean {
    if (turnBegan === null) {
      turnBegan = now
      setImmediate(() => (turnBegan = null))
    }
    return now - turnBegan < AT_ONCE_MS
  }

  /** Serves one, so that the event loop looks around before the next. */
  function advance(): void {
    const now = performance.now()
    for (let refused = 0; refused < MOST_REFUSED_AT_ONCE; refused++) {
      const waiting = line[0]
      if (waiting === undefined) return
      const isLast = isInTime(now - waiting.since)
      if (isLast) waiting.serve()
      else waiting.refuse()
      line.shift()
      if (isLast) break
    }
    if (line.length > 0) setImmediate(advance)
  }

  return {
    /** Has a request served or refused: at once where nobody waits, else in its turn. */
    join(serve: () => void, refuse: () => void): void {
      const now = performance.now()
      if (line.length === 0 && hasTime(now)) {
        if (isInTime(0)) serve()
        else refuse()
        return
      }
      line.push({ since: now, serve, refuse })
      if (line.length === 1) setImmediate(advance)
    },
  }
}
