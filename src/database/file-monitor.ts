import { statSync, type Stats } from 'node:fs'
import { Problem } from '../http/problem.js'
import { isCorruption } from './database-error.js'

/** What of a file tells that it is the one that was opened. */
type Seen = Pick<Stats, 'dev' | 'ino' | 'size'> | undefined

/** A file that may not be looked at is as good as gone. */
function look(path: string): Seen {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** Whether it is another file now, none, or a shorter one: a book never gets smaller. */
const isOther = (before: Seen, now: Seen, mayShrink: boolean): boolean =>
  before !== undefined &&
  (now?.ino !== before.ino || now.dev !== before.dev || (!mayShrink && now.size < before.size))

/**
 * Watches over the file of an open book: a damaged one is neither read nor written any more, and
 * nothing is written that would be lost, as SQLite goes on with files that have been removed.
 *
 * @param remedy what an operator does, such as `restore it`
 * @param onDamage is told each time that the book is found damaged, or its files others
 */
export function createFileMonitor(path: string, remedy: string, onDamage: () => void) {
  let isDamaged = false
  let book = look(path)
  const companions = ['-wal', '-shm'].map((end) => ({ path: path + end, seen: look(path + end) }))

  const damaged = (): Problem => new Problem(503, `The order book is damaged: ${remedy}.`)

  function markDamaged(): void {
    isDamaged = true
    onDamage()
  }

  return {
    /** Throws a Problem (503) where the book is known to be damaged, or its files are others. */
    check(): void {
      if (isDamaged) throw damaged()
      const now = look(path)
      if (
        isOther(book, now, false) ||
        companions.some((file) => isOther(file.seen, look(file.path), true))
      ) {
        onDamage()
        throw new Problem(
          503,
          `A file of the order book has been removed, replaced or cut off under the running service: put it back, or ${remedy}.`,
        )
      }
      book = now
    },
    /** Notes that it is damaged. */
    markDamaged,
    /** What reading or writing has thrown, as callers are told it; damage is noted. */
    told(error: unknown): unknown {
      if (!isCorruption(error)) return error
      markDamaged()
      return damaged()
    },
  }
}

export type FileMonitor = ReturnType<typeof createFileMonitor>
