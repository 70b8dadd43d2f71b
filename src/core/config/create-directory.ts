import { existsSync, mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

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
