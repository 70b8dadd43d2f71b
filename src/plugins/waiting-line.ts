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
/** Refusals in one turn: many, as each costs little. */
const MOST_REFUSED_AT_ONCE = 100
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
    const tooLongSince = performance.now() - patienceMs
    for (let refused = 0; refused < MOST_REFUSED_AT_ONCE; refused++) {
      if (line[0] === undefined || line[0].since > tooLongSince) return
      line.shift()?.refuse()
    }
  }

  /** Serves one, so that the event loop looks around before the next. */
  function advance(): void {
    refuseWhoWaitedTooLong()
    const isMoving = hasRoom()
    if (isMoving) line.shift()?.serve()
    if (line.length === 0) return
    if (isMoving) setImmediate(advance)
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
