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

/** Where what one process remembers outlives it. */
export interface StateFile {
  /** Keys and when they expire, milliseconds since 1970 */
  read(): Map<string, number>
  /** Throws what the file system throws; the entry is written with the next that can be then. */
  add(key: string, expires: number): void
  /** Writes what could not be written before; throws what the file system throws. */
  catchUp(): void
  /** Throws what the file system throws where nothing can be written. */
  check(): void
}

const FILE = 'remembered'
const OWN = { mode: 0o600, flush: true }

const lineOf = ([key, expires]: [string, number]): string => `${expires} ${key}\n`

/** Puts lines in the place of a file; by a draft, so that a crash leaves one or the other. */
function replace(path: string, lines: string): void {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, lines, OWN)
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/**
 * Keeps entries in a file of the data folder, one a line, added at its end. A file that cannot be
 * written is told in the log; what should stand in it is kept until it can.
 */
export function openStateFile(dataDir: string, log: FastifyBaseLogger): StateFile {
  const path = join(dataDir, FILE)
  const unwritten = new Map<string, number>()
  let failed = false

  function write(): void {
    const now = Date.now()
    for (const [key, expires] of unwritten) if (expires <= now) unwritten.delete(key)
    // What failed may have left half a line.
    const lines = (failed && unwritten.size > 0 ? '\n' : '') + [...unwritten].map(lineOf).join('')
    if (lines !== '') mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    appendFileSync(path, lines, { ...OWN, flush: lines !== '' })
    unwritten.clear()
    if (failed) log.info('DATA_DIR holds again which sessions have ended')
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
      // What has expired goes.
      replace(path, entries.map(lineOf).join(''))
      return new Map(entries)
    },
    add(key, expires) {
      unwritten.set(key, expires)
      try {
        write()
      } catch (error) {
        failed = true
        log.error({ err: error }, 'DATA_DIR cannot hold which sessions have ended')
        throw error
      }
    },
    catchUp() {
      if (unwritten.size > 0) write()
    },
    check: write,
  }
}
