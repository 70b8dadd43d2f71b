import { execFile, spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { temporaryFolder } from './app.js'
import type { Scope } from './scope.js'
import type { GrayImage } from './zbar.js'

const run = promisify(execFile)

/** Whether the tools of poppler-utils are installed. */
export const hasPoppler = (): boolean =>
  ['pdftotext', 'pdftoppm'].every((tool) => spawnSync(tool, ['-v']).error === undefined)

export const SKIP_WITHOUT_POPPLER = {
  skip: hasPoppler() ? false : 'needs poppler-utils (npm test installs it on Debian)',
}

/** A font with Chinese, Japanese and Korean characters; `null` if there is none. */
export function findCjkFont(): string | null {
  const path = '/usr/share/fonts-droid-fallback/truetype/DroidSansFallback.ttf'
  return existsSync(path) ? path : null
}

/** A font with Arabic and Hebrew; `null` if there is none. */
export function findArabicFont(): string | null {
  const path = '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf'
  return existsSync(path) ? path : null
}

function writePdf(t: Scope, pdf: Uint8Array): string {
  const path = join(temporaryFolder(t), 'certificate.pdf')
  writeFileSync(path, pdf)
  return path
}

/** The text of a PDF, as it would be copied; line breaks and runs of spaces become one space. */
export async function readPdfText(t: Scope, pdf: Uint8Array): Promise<string> {
  const { stdout } = await run('pdftotext', ['-layout', writePdf(t, pdf), '-'])
  return stdout.replace(/[\s\u00a0]+/g, ' ').trim()
}

/** What pdfinfo says about a PDF. */
export async function readPdfInfo(t: Scope, pdf: Uint8Array, ...flags: string[]): Promise<string> {
  const { stdout } = await run('pdfinfo', [...flags, writePdf(t, pdf)])
  return stdout
}

/** Renders the first page of a PDF. */
export async function renderPdf(t: Scope, pdf: Uint8Array, dpi = 150): Promise<GrayImage> {
  const { stdout } = await run(
    'pdftoppm',
    ['-gray', '-r', String(dpi), '-singlefile', writePdf(t, pdf)],
    { encoding: 'buffer', maxBuffer: 64 * 1024 * 1024 },
  )
  const [header = '', width = '', height = ''] =
    /^P5\s+(\d+)\s+(\d+)\s+255\s/.exec(stdout.subarray(0, 40).toString('latin1')) ?? []
  return {
    width: Number(width),
    height: Number(height),
    pixels: new Uint8Array(stdout.subarray(header.length)),
  }
}
