import { mkdtempSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { FastifyPluginAsync } from 'fastify'
import { getNumberFormatter } from '../core/formatting/number-formatter.js'
import { Problem } from '../core/http/problem.js'
import { isCalculatorType, type Calculation, type CalculatorType } from './calculator-data.js'
import { parseCalculatorForm } from './calculator-form.js'
import { describeTrip } from './describe-trip.js'
import { buildResultView } from './result-view.js'

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

type Query = Record<string, unknown>

const MAX_CACHED_IMAGES = 50
const RATE_LIMIT_PER_MINUTE = 30
/** The title without a vessel whose name can be drawn */
const NO_VESSEL = 'Boat trip'
/** Width of the image without its margins, px */
const TEXT_WIDTH = 1056

/** The images that apps show next to a shared link (Open Graph), for each result. */
const pages: FastifyPluginAsync = async (app) => {
  const numbers = getNumberFormatter('en-GB')
  const images = new Map<string, Promise<Buffer>>()

  function readTrip(type: CalculatorType, query: Query) {
    const { data, sig, code, codeSig } = query
    const isScanned = data !== undefined || sig !== undefined
    const link = isScanned ? { data, sig } : { data: code, sig: codeSig }
    const prefill = link.data === undefined ? null : app.readPrefill(type, link)
    const vessel = prefill?.ok === true ? prefill.source.vessel.name : null
    if (isScanned) return { vessel, calculation: prefill?.ok ? prefill.calculation : null }
    return {
      vessel,
      calculation: parseCalculatorForm(type, query, { decimalSign: '.' }).calculation,
    }
  }

  async function draw(calculation: Calculation, vessel: string | null): Promise<Buffer> {
    const trip = calculation.calculatorType === 'custom' ? null : describeTrip(calculation, numbers)
    const titleSize = { width: TEXT_WIDTH, largest: 72, smallest: 40 }
    const view = {
      result: buildResultView(calculation, numbers),
      title: fitLine(vessel ?? NO_VESSEL, titleSize) ?? fitLine(NO_VESSEL, titleSize),
      trip: trip && fitLine(trip, { width: TEXT_WIDTH, largest: 34, smallest: 24 }),
      brand: fitLine(app.brand.name, { width: 500, largest: 34, smallest: 22 }),
    }
    return renderPng(await app.view('calculator/preview-image', view))
  }

  /** Draws an image once for all who ask for it. */
  function getImage(calculation: Calculation, vessel: string | null): Promise<Buffer> {
    const key = JSON.stringify([calculation, vessel])
    const known = images.get(key)
    if (known !== undefined) return known
    const [oldest] = images.keys()
    if (oldest !== undefined && images.size >= MAX_CACHED_IMAGES) images.delete(oldest)
    const image = draw(calculation, vessel)
    images.set(key, image)
    image.catch(() => images.delete(key))
    return image
  }

  app.get<{ Params: { type: string }; Querystring: Query }>(
    '/calculator/:type/preview.png',
    { config: { rateLimit: { max: RATE_LIMIT_PER_MINUTE, timeWindow: '1 minute' } } },
    async (request, reply) => {
      const { type } = request.params
      if (!isCalculatorType(type)) throw new Problem(404, 'This calculator does not exist.')
      const { calculation, vessel } = readTrip(type, request.query)
      if (calculation === null) throw new Problem(404, 'There is no result to draw.')
      const image = await getImage(calculation, vessel)
      return reply
        .type('image/png')
        .headers({ 'cache-control': 'public, max-age=86400', 'x-robots-tag': 'noindex' })
        .send(image)
    },
  )
}

export default pages
