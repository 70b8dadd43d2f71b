interface Waiting {
  since: number
  serve: () => void
  refuse: () => void
}

interface Rules {
  /** How long one may wait */
  patienceMs: number
  /** Whether there is room for one more just now */
  hasRoom: () => boolean
}

/** For so long requests are served as they come, in each turn of the event loop. */
const AT_ONCE_MS = 1
/** Of those who wait, so many at most in one turn, as not all of their work is done at once. */
const MOST_SERVED_AT_ONCE = 4
const LOOKS_EVERY_MS = 5

/**
 * A line for requests, where more come than can be served as they come: first come, first served,
 * and who has waited too long is refused.
 *
 * Without it all would be served in one turn of the event loop. As a turn takes in one new
 * connection only, others would wait outside for as many turns, unseen and however short their wish.
 */
export function waitingLine({ patienceMs, hasRoom }: Rules) {
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

  function refuseWhoWaitedTooLong(): void {
    const began = performance.now()
    while (line[0] !== undefined && began - line[0].since > patienceMs) {
      line.shift()?.refuse()
      if (performance.now() - began >= AT_ONCE_MS) return
    }
  }

  /** Serves a few, so that the event loop looks around before the next. */
  function advance(): void {
    refuseWhoWaitedTooLong()
    const began = performance.now()
    let served = 0
    while (served < MOST_SERVED_AT_ONCE && line.length > 0 && hasRoom()) {
      served++
      line.shift()?.serve()
      if (performance.now() - began >= AT_ONCE_MS) break
    }
    if (line.length === 0) return
    if (served > 0) setImmediate(advance)
    else setTimeout(advance, LOOKS_EVERY_MS)
  }

  return {
    /** Has a request served or refused: at once where nobody waits, else in its turn. */
    join(serve: () => void, refuse: () => void): void {
      const now = performance.now()
      if (line.length === 0 && hasTime(now) && hasRoom()) {
        serve()
        return
      }
      line.push({ since: now, serve, refuse })
      if (line.length === 1) setImmediate(advance)
    },
  }
}
