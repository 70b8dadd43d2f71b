import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'

/** Persists keys of a process across restarts. */
export interface StateFile {
  /** Keys and their expiry, ms since the epoch */
  read(): Map<string, number>
  /** Throws a file system error; the entry is then written with the next one. */
  add(key: string, expires: number): void
  /** Writes entries that could not be written before; throws a file system error. */
  retryWrites(): void
  /** Throws a file system error if the file is not writable. */
  checkWritable(): void
}

const FILE = 'remembered'
const PRIVATE = { mode: 0o600, flush: true }

const formatLine = ([key, expires]: [string, number]): string => `${expires} ${key}\n`

/** Replaces a file atomically. */
function replace(path: string, lines: string): void {
  const temporary = `${path}.${process.pid}`
  try {
    writeFileSync(temporary, lines, PRIVATE)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
}

/**
 * Opens the state file of the data directory: one entry per line, appended. Entries that cannot be
 * written are kept in memory until they can.
 */
export function openStateFile(dataDir: string, log: FastifyBaseLogger): StateFile {
  const path = join(dataDir, FILE)
  const unwritten = new Map<string, number>()
  let failed = false

  function write(): void {
    const now = Date.now()
    for (const [key, expires] of unwritten) if (expires <= now) unwritten.delete(key)
    // A failed write may have left a partial line.
    const lines =
      (failed && unwritten.size > 0 ? '\n' : '') + [...unwritten].map(formatLine).join('')
    if (lines !== '') mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    appendFileSync(path, lines, { ...PRIVATE, flush: lines !== '' })
    unwritten.clear()
    if (failed) log.info('revoked sessions are persisted again')
    failed = false
  }

  return {
    read() {
      if (!existsSync(path)) return new Map()
      const now = Date.now()
      const entries = readFileSync(path, 'utf8')
        .split('\n')
        .map((line): [string, number] => {
          const [expires = '', key = ''] = line.split(' ', 2)
          return [key, Number(expires)]
        })
        .filter(([, expires]) => expires > now)
      // Drop expired entries.
      replace(path, entries.map(formatLine).join(''))
      return new Map(entries)
    },
    add(key, expires) {
      unwritten.set(key, expires)
      try {
        write()
      } catch (error) {
        failed = true
        log.error({ err: error }, 'revoked sessions cannot be persisted in DATA_DIR')
        throw error
      }
    },
    retryWrites() {
      if (unwritten.size > 0) write()
    },
    checkWritable: write,
  }
}
