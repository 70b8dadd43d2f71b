import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const exists = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST'

/**
 * A text kept in a file of the data folder, for this user's eyes only; made where there is none.
 * Throws what the file system throws.
 */
export function readOrCreateFile(
  dataDir: string,
  name: string,
  make: () => string,
): { text: string; isNew: boolean } {
  const path = join(dataDir, name)
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  if (!existsSync(path)) {
    try {
      const text = make()
      writeFileSync(path, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true })
      return { text, isNew: true }
    } catch (error) {
      // Of two processes that start at once, one makes it and both use it.
      if (!exists(error)) throw error
    }
  }
  return { text: readWhenWritten(path), isNew: false }
}

/** The file may exist a moment before its content does, where another process is at it. */
function readWhenWritten(path: string): string {
  for (let tries = 1; ; tries++) {
    const text = readFileSync(path, 'utf8').trim()
    if (text !== '' || tries === 50) return text
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
}
