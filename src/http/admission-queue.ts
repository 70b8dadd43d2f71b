import { performance } from 'node:perf_hooks'

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

/** So many at least and at most are served in one turn of the event loop. */
const [FEWEST_AT_ONCE, MOST_AT_ONCE] = [2, 64]
/** A turn that takes longer than this has served too many: not all of their work is done at once. */
const LONG_TURN_MS = 10
/** Serving and refusing go on for so long in one turn. */
const AT_ONCE_MS = 1
const LOOKS_EVERY_MS = 5
/** An event loop that has waited for so long had nothing left to do. */
const REST_MS = 0.02

/** Tells of each request whether it and the one before came alone, each after the event loop had rested. */
function loneArrivals(): () => boolean {
  let idleMs = 0
  let arrivalsSinceRest = 0
  return () => {
    const rested = performance.nodeTiming.idleTime - idleMs
    idleMs += rested
    if (rested < REST_MS) {
      arrivalsSinceRest++
      return false
    }
    const before = arrivalsSinceRest
    arrivalsSinceRest = 1
    return before === 1
  }
}

/**
 * A line for requests: first come, first served, a few in each turn of the event loop, and who has
 * waited too long is refused.
 *
 * Without it all would be served in the turn they come in. As a turn takes in one new connection
 * only, others would wait outside for as many turns, unseen and however short their wish. Those who
 * come in the same turn are served together after it, which halves what a short answer costs: each
 * step runs for one request after the other, and stays in the processor's caches. Who comes alone,
 * as the one before did, has nothing to wait for.
 */
export function createAdmissionQueue({ patienceMs, hasRoom }: Rules) {
  const line: Waiting[] = []
  const comesAlone = loneArrivals()
  let atOnce = FEWEST_AT_ONCE

  function refuseWhoWaitedTooLong(): void {
    const began = performance.now()
    while (line[0] !== undefined && began - line[0].since > patienceMs) {
      line.shift()?.refuse()
      if (performance.now() - began >= AT_ONCE_MS) return
    }
  }

  /** The length of turns tells how many can be served in one. */
  function learnFrom(turnMs: number): void {
    if (turnMs > LONG_TURN_MS) atOnce = Math.max(FEWEST_AT_ONCE, atOnce >> 1)
    else atOnce = Math.min(MOST_AT_ONCE, atOnce + 1)
  }

  /** Serves a few, so that the event loop looks around before the next. */
  function advance(): void {
    refuseWhoWaitedTooLong()
    const began = performance.now()
    let served = 0
    while (served < atOnce && line.length > 0 && hasRoom()) {
      served++
      line.shift()?.serve()
      if (performance.now() - began >= AT_ONCE_MS) break
    }
    if (line.length === 0) return
    if (served === 0) {
      setTimeout(advance, LOOKS_EVERY_MS)
      return
    }
    setImmediate(() => {
      learnFrom(performance.now() - began)
      advance()
    })
  }

  return {
    /** Has a request served or refused in its turn, which may be at once. */
    join(serve: () => void, refuse: () => void): void {
      const isAlone = comesAlone()
      if (isAlone && line.length === 0 && hasRoom()) {
        serve()
        return
      }
      line.push({ since: performance.now(), serve, refuse })
      if (line.length === 1) setImmediate(advance)
    },
  }
}
