import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

function findPackageRoot(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error('no package.json in a parent directory')
  return findPackageRoot(parent)
}

/** Directory of templates, static files and packages; the compiled code is below it. */
export const projectRoot = findPackageRoot(import.meta.dirname)
