import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const exists = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST'

/**
 * The secret kept in the data folder, made at the first start. Printed codes live as long as
 * it does, so it must survive restarts. Throws what the file system throws.
 */
export function keptSessionSecret(dataDir: string): string {
  const path = join(dataDir, 'session-secret')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  try {
    const secret = randomBytes(32).toString('base64url')
    writeFileSync(path, `${secret}\n`, { flag: 'wx', mode: 0o600, flush: true })
  } catch (error) {
    // Of two processes that start at once, one makes it and both use it.
    if (!exists(error)) throw error
  }
  return readWhenWritten(path)
}

/** The file may exist a moment before its content does, where another process is at it. */
function readWhenWritten(path: string): string {
  for (let tries = 1; ; tries++) {
    const secret = readFileSync(path, 'utf8').trim()
    if (secret !== '' || tries === 50) return secret
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
}
