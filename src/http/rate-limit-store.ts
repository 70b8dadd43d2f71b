import type { FastifyRateLimitStore } from '@fastify/rate-limit'

/** Of clients beyond this, the one whose window began first is forgotten. */
const MOST_CLIENTS = 5_000

interface Count {
  current: number
  /** As `performance.now` tells it */
  begun: number
}

/**
 * Requests by client, for @fastify/rate-limit. Its own store goes by the clock of the machine: were
 * that set back by an hour, a client would have no more requests for the hour than for a minute.
 */
export class RequestCounts implements FastifyRateLimitStore {
  readonly #counts = new Map<string, Count>()

  incr(
    key: string,
    callback: (error: Error | null, result?: { current: number; ttl: number }) => void,
    windowMs = 60_000,
  ): void {
    const now = performance.now()
    let count = this.#counts.get(key)
    if (count === undefined || count.begun + windowMs <= now) {
      count = { current: 0, begun: now }
      this.#begin(key, count)
    }
    count.current++
    callback(null, { current: count.current, ttl: count.begun + windowMs - now })
  }

  /** Only once a window: a map in which something goes and comes with each request is costly. */
  #begin(key: string, count: Count): void {
    this.#counts.delete(key)
    this.#counts.set(key, count)
    if (this.#counts.size > MOST_CLIENTS) {
      const [oldest] = this.#counts.keys()
      if (oldest !== undefined) this.#counts.delete(oldest)
    }
  }

  child(): RequestCounts {
    return new RequestCounts()
  }
}
