import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

function nearestPackage(folder: string): string {
  if (existsSync(join(folder, 'package.json'))) return folder
  const parent = dirname(folder)
  if (parent === folder) throw new Error('no package.json above the program')
  return nearestPackage(parent)
}

/**
 * The folder that holds templates, static files and packages; the compiled program lies
 * somewhere below it.
 */
export const projectRoot = nearestPackage(import.meta.dirname)
