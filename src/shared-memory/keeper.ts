import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import type { FastifyBaseLogger } from 'fastify'

/** Where what one process remembers outlives it. */
export interface Keeper {
  /** Keys and when they expire, milliseconds since 1970 */
  read(): Map<string, number>
  add(key: string, expires: number): void
}

const FILE = 'remembered'
const OWN = { mode: 0o600, flush: true }

const lineOf = ([key, expires]: [string, number]): string => `${expires} ${key}\n`

/**
 * Keeps entries in a file of the data folder, one a line, added at its end. A file that cannot be
 * written is told in the log: what was remembered holds until the process ends.
 */
export function fileKeeper(dataDir: string, log: FastifyBaseLogger): Keeper {
  const path = join(dataDir, FILE)
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
      // What has expired goes; by a draft, so that a crash leaves one or the other.
      const draft = `${path}.${process.pid}`
      writeFileSync(draft, entries.map(lineOf).join(''), OWN)
      renameSync(draft, path)
      return new Map(entries)
    },
    add(key, expires) {
      try {
        mkdirSync(dataDir, { recursive: true, mode: 0o700 })
        appendFileSync(path, lineOf([key, expires]), OWN)
      } catch (error) {
        log.error({ err: error }, 'DATA_DIR cannot hold which sessions have ended')
      }
    },
  }
}
