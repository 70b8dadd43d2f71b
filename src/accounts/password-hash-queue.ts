import { Problem } from '../http/problem.js'

/** An Argon2id hash takes a core and 19 MiB or more, so few are computed side by side. */
const AT_ONCE = 2
const MOST_WAITING = 32

export interface PasswordHashQueue {
  /** Runs a job when its turn has come; throws a Problem (503) where too many wait. */
  run<T>(job: () => Promise<T>): Promise<T>
}

/** Lets few hashes be computed at once, whatever comes in. */
export function createPasswordHashQueue(): PasswordHashQueue {
  let running = 0
  const waiting: (() => void)[] = []

  return {
    async run(job) {
      if (running < AT_ONCE) {
        running++
      } else if (waiting.length < MOST_WAITING) {
        // Whoever ends hands its place on, so that nobody slips in between.
        await new Promise<void>((resolve) => waiting.push(resolve))
      } else {
        throw new Problem(503, 'Too many people are logging in: try again in a few seconds.', {
          headers: { 'retry-after': '5' },
        })
      }
      try {
        return await job()
      } finally {
        const next = waiting.shift()
        if (next) next()
        else running--
      }
    },
  }
}
