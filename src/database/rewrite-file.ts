import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { FastifyBaseLogger } from 'fastify'
import { isBusy } from './database.js'
import { createSequence } from './sqlite-database.js'
import { startFunction } from './start-worker.js'

const MAX_WAIT_MS = 5_000
const RETRY_MS = 50

/**
 * Empties the write-ahead log of a SQLite database, which can contain earlier versions of pages.
 * Returns `false` if the database is in use for too long; SQLite then overwrites the log later.
 */
export async function truncateLog(path: string): Promise<boolean> {
  const db = new Database(path, { timeout: 0, fileMustExist: true })
  try {
    const deadline = performance.now() + MAX_WAIT_MS
    for (;;) {
      const [result] = db.pragma('wal_checkpoint(TRUNCATE)') as { busy: number }[]
      if (result?.busy === 0) return true
      if (performance.now() > deadline) return false
      await sleep(RETRY_MS)
    }
  } finally {
    db.close()
  }
}

/*
 * SQLite overwrites deleted content (`secure_delete`), but when it moves rows between pages, copies
 * stay in unused parts of the pages. Only VACUUM, which rewrites the whole file, removes them. A
 * setting in the file says that a rewrite is due, so that a crash does not lose it.
 */

/** How long a rewrite waits for a lock that another connection holds. */
const BUSY_TIMEOUT_MS = 5_000

/** The pages are rewritten, but the write-ahead log still has to be emptied. */
const REWRITTEN = 'rewritten'

const SELECT_STATE = "SELECT value FROM settings WHERE name = 'rewrite'"

/**
 * Makes a rewrite of the file due. Run it after the transaction that erases something, or in it. The
 * value changes each time, so that a rewrite that is running does not count for this erasure.
 */
export const REQUIRE_REWRITE =
  "INSERT OR REPLACE INTO settings VALUES ('rewrite', hex(randomblob(8)))"

/** Whether a rewrite of a file is due or has not finished. */
export function isRewriteDue(path: string): boolean {
  const db = new Database(path, { fileMustExist: true, readonly: true })
  try {
    return db.prepare(SELECT_STATE).get() !== undefined
  } finally {
    db.close()
  }
}

/** Rewrites the pages; returns `false` if a lock could not be acquired. */
function rewritePages(db: Database.Database): boolean {
  const state = db.prepare<[], string>(SELECT_STATE).pluck().get()
  if (state === REWRITTEN) return true
  try {
    db.exec('VACUUM')
    const update = "UPDATE settings SET value = ? WHERE name = 'rewrite' AND value = ?"
    db.prepare(update).run(REWRITTEN, state ?? '')
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}

/**
 * Rewrites a file without anything that was erased or deleted, and empties its write-ahead log.
 * Continues where an earlier rewrite stopped. Returns `false` if the file is in use for too long:
 * try again. Blocks the thread, and all writers, but not readers. Throws SqliteError.
 */
export async function rewriteFile(path: string): Promise<boolean> {
  const db = new Database(path, { fileMustExist: true, timeout: BUSY_TIMEOUT_MS })
  try {
    if (!rewritePages(db) || !(await truncateLog(path))) return false
    db.prepare("DELETE FROM settings WHERE name = 'rewrite' AND value = ?").run(REWRITTEN)
    return db.prepare(SELECT_STATE).get() === undefined
  } finally {
    db.close()
  }
}

/** Rewrites a SQLite file from which something was erased, in a worker thread. */
export function createFileRewriter(path: string | null, log: FastifyBaseLogger) {
  const inSequence = createSequence()
  /** Whether unused parts of the file may still have copies of erased data. */
  const isDue = (): boolean => path !== null && isRewriteDue(path)
  return {
    isDue,
    /** Rewrites the file if it is due. Call it regularly. */
    run: (): Promise<void> =>
      inSequence(async () => {
        if (!isDue()) return
        const worker = startFunction('database/rewrite-file', 'rewriteFile', path)
        const [isDone] = (await once(worker, 'message')) as [boolean]
        if (!isDone) log.warn({ path }, 'the file is in use: erased data is removed from it later')
      }),
  }
}
