import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { LOGO_TYPES } from '../core/config/core-config.js'

/** The operator's logo, attached to each email. */
export interface MailLogo {
  filename: string
  contentType: string
  content: Buffer
}

/** Reads the logo; `null` if there is none, or if it is an SVG, which few email clients display. */
export function readMailLogo(path: string | undefined): MailLogo | null {
  const extension = extname(path ?? '').toLowerCase()
  const contentType = LOGO_TYPES[extension]
  if (path === undefined || contentType === undefined || extension === '.svg') return null
  return { filename: `logo${extension}`, contentType, content: readFileSync(path) }
}
