import { statSync } from 'node:fs'
import { extname } from 'node:path'

/** Content types of logos by file extension. */
export const LOGO_TYPES: Record<string, string> = {
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.webp': 'image/webp',
}

const MAX_LOGO_BYTES = 200_000

/** Whether a file is a readable image that is small enough for every page. */
export function isLogoFile(path: string): boolean {
  const file = statSync(path, { throwIfNoEntry: false })
  return (
    extname(path).toLowerCase() in LOGO_TYPES &&
    file !== undefined &&
    file.isFile() &&
    file.size <= MAX_LOGO_BYTES
  )
}
