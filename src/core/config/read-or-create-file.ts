import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const isAlreadyExists = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EEXIST'

/**
 * Reads a file in the data directory, or creates it, readable only by this user. Throws a file
 * system error.
 */
export function readOrCreateFile(
  dataDir: string,
  name: string,
  create: () => string,
): { text: string; isNew: boolean } {
  const path = join(dataDir, name)
  createDirectory(dataDir)
  if (!existsSync(path)) {
    try {
      const text = create()
      writeFileSync(path, `${text}\n`, { flag: 'wx', mode: 0o600, flush: true })
      return { text, isNew: true }
    } catch (error) {
      // If two processes start at the same time, one creates the file and both use it.
      if (!isAlreadyExists(error)) throw error
    }
  }
  return { text: readWhenComplete(path), isNew: false }
}

/** The file may still be empty if another process is creating it. */
function readWhenComplete(path: string): string {
  for (let attempt = 1; ; attempt++) {
    const text = readFileSync(path, 'utf8').trim()
    if (text !== '' || attempt === 50) return text
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10)
  }
}

const MESSAGES: Partial<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOENT: 'the directory does not exist',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk is full',
  EISDIR: 'a directory exists in place of the file',
  EEXIST: 'a file exists in place of the directory',
  ENOTDIR: 'a file exists in place of the directory',
}

/** Describes a file system error by its code. The text does not contain the path. */
export function describeFileError(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const message = MESSAGES[code]
  return message === undefined ? code || 'unknown error' : `${message}, ${code}`
}

/**
 * Creates a directory and its parents, accessible only by this user, unless it exists. Throws a
 * file system error. Node's own recursive function never returns where the system does not allow
 * new directories, such as in /proc.
 */
export function createDirectory(path: string): void {
  const isDirectory = (): boolean =>
    statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
  if (isDirectory()) return
  if (!existsSync(dirname(path))) createDirectory(dirname(path))
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process may have created it meanwhile.
    if (!isDirectory()) throw error
  }
}
