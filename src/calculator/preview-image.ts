import { mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

/** The fonts of certificates: Latin, Greek and Cyrillic; Japanese and many Chinese characters. */
const FONTS = [
  'inter/400Regular/Inter_400Regular.ttf',
  'inter/600SemiBold/Inter_600SemiBold.ttf',
  'noto-sans-jp/400Regular/NotoSansJP_400Regular.ttf',
]

/** Points fontconfig to our fonts, so that images look the same on every machine. */
function configureFonts(): void {
  const folder = mkdtempSync(join(tmpdir(), 'clearwake-fonts-'))
  const folders = FONTS.map((file) => dirname(require.resolve(`@expo-google-fonts/${file}`)))
  const path = join(folder, 'fonts.conf')
  const dirs = folders.map((dir) => `<dir>${dir.replaceAll('&', '&amp;')}</dir>`).join('')
  writeFileSync(path, `<fontconfig>${dirs}<cachedir>${folder}</cachedir></fontconfig>`)
  process.env.FONTCONFIG_FILE = path
}

/** Loads the library at the first image, after its fonts are configured. */
async function loadSharp() {
  configureFonts()
  const { default: sharp } = await import('sharp')
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp
}

let loading: ReturnType<typeof loadSharp> | undefined

/** Draws an SVG as a PNG. Texts can use the fonts Inter and Noto Sans JP. */
export async function renderPng(svg: string): Promise<Buffer> {
  const sharp = await (loading ??= loadSharp())
  return sharp(Buffer.from(svg)).png({ palette: true }).toBuffer()
}

const WIDE = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]/u

/** Whether the fonts have the scripts of a text. */
const isDrawable = (text: string): boolean =>
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Common}\p{Script=Inherited}]*$/u.test(
    text,
  ) && !/\p{Extended_Pictographic}/u.test(text)

/** Width of a text in ems, roughly. */
const measureText = (text: string): number =>
  Array.from(text).reduce((sum, character) => sum + (WIDE.test(character) ? 1 : 0.6), 0)

/**
 * Fits a line of text into a width, with a smaller font and then with an ellipsis; `null` if the
 * fonts cannot draw it.
 *
 * @param width in pixels; as are `largest` and `smallest`, the sizes of the font
 */
export function fitLine(
  text: string,
  { width, largest, smallest }: { width: number; largest: number; smallest: number },
): { text: string; size: number } | null {
  if (!isDrawable(text)) return null
  const size = Math.floor(Math.min(largest, Math.max(smallest, width / measureText(text))))
  const characters = Array.from(text)
  while (measureText(characters.join('')) * size > width) characters.splice(-2, 2, '…')
  return { text: characters.join(''), size }
}
