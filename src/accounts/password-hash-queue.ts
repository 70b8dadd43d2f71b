import { Problem } from '../core/http/problem.js'

/** Computing an argon2id hash takes one core and at least 19 MiB of memory. */
const MAX_CONCURRENT = 2
const MAX_QUEUED = 32

export interface PasswordHashQueue {
  /** Runs a job when it is its turn; throws a Problem (503) when the queue is full. */
  run<T>(job: () => Promise<T>): Promise<T>
}

/** Limits how many password hashes are computed at a time. */
export function createPasswordHashQueue(): PasswordHashQueue {
  let running = 0
  const queue: (() => void)[] = []

  return {
    async run(job) {
      if (running < MAX_CONCURRENT) {
        running++
      } else if (queue.length < MAX_QUEUED) {
        // A finished job passes its slot to the next job, so `running` does not change.
        await new Promise<void>((resolve) => queue.push(resolve))
      } else {
        throw new Problem(503, 'Too many people are signing in. Try again in a few seconds.', {
          headers: { 'retry-after': '5' },
        })
      }
      try {
        return await job()
      } finally {
        const next = queue.shift()
        if (next) next()
        else running--
      }
    },
  }
}
