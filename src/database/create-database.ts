import { randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import Database from 'better-sqlite3'
import { DatabaseError, getErrorCode } from './database-error.js'
import { migrate } from './migrations.js'

/** What SQLite writes beside a file. */
const COMPANIONS = ['-wal', '-shm', '-journal']

const draftOf = (path: string): string => `${path}.${randomUUID()}.draft`
const DRAFT = /^\.[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}\.draft(-\w+)?$/

/**
 * Makes an order book where there is none, all of it or nothing: whoever looks meanwhile, or after
 * a kill, finds no file or a whole one. Of those that make it at once, all get the same one.
 */
export function createDatabase(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  refuseLeftCompanions(path)
  const draft = draftOf(path)
  try {
    writeBook(draft)
    putInPlace(draft, path)
  } catch (error) {
    // Another process was first: its book it is.
    if (!existsSync(path)) throw error
  } finally {
    for (const end of ['', ...COMPANIONS]) rmSync(draft + end, { force: true })
  }
}

/** SQLite would put into a new book what is left of the old one, or undo the new one by it. */
function refuseLeftCompanions(path: string): void {
  const left = COMPANIONS.filter((end) => end !== '-shm').find(
    (end) => (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0) > 0,
  )
  // Where there is a book by now, another process has made it, and this is its own.
  if (left === undefined || existsSync(path)) return
  throw new DatabaseError(
    `${path} is missing, though ${basename(path)}${left} is there, which belongs to it: restore it, or move ${basename(path)}${left} away to begin a new one.`,
  )
}

/** A whole book on the disk, with nothing beside it. Only its owner may read it. */
function writeBook(draft: string): void {
  closeSync(openSync(draft, 'wx', 0o600))
  const db = new Database(draft, { fileMustExist: true })
  try {
    db.pragma('journal_mode = WAL')
    migrate(db)
  } finally {
    db.close()
  }
  sync(draft)
}

/** Gives the draft its name, unless there is such a file. */
function putInPlace(draft: string, path: string): void {
  try {
    linkSync(draft, path)
  } catch (error) {
    // Some file systems, such as those of memory cards, know one name for each file only.
    if (!/^(EPERM|ENOTSUP|EOPNOTSUPP|ENOSYS)$/.test(getErrorCode(error))) throw error
    if (!existsSync(path)) renameSync(draft, path)
  }
  try {
    sync(dirname(path))
  } catch {
    // Not every system can do this with a folder, and SQLite goes on without it, too.
  }
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** Removes what killed processes have left that were making a book that is there now. */
export function removeTemporaryFiles(path: string): void {
  const name = basename(path)
  const folder = dirname(path)
  try {
    for (const file of readdirSync(folder)) {
      if (file.startsWith(name) && DRAFT.test(file.slice(name.length))) rmSync(join(folder, file))
    }
  } catch {
    // They do no harm.
  }
}
