import { randomBytes } from 'node:crypto'
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code

/**
 * The secret kept in the data folder, made at the first start. Printed codes live as long as
 * it does, so it must survive restarts. Throws what the file system throws.
 */
export function keptSessionSecret(dataDir: string): string {
  const path = join(dataDir, 'session-secret')
  try {
    return readFileSync(path, 'utf8').trim()
  } catch (error) {
    if (!isCode(error, 'ENOENT')) throw error
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true })
  try {
    // Linking fails where the file exists, so of two processes that start at once one wins
    // and both use its secret; and nobody reads a file half written.
    linkSync(draft, path)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  } finally {
    unlinkSync(draft)
  }
  return readFileSync(path, 'utf8').trim()
}
