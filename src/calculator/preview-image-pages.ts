import type { FastifyPluginAsync } from 'fastify'
import { getNumberFormatter } from '../core/formatting/number-formatter.js'
import { Problem } from '../core/http/problem.js'
import { isCalculatorType, type Calculation, type CalculatorType } from './calculator-data.js'
import { parseCalculatorForm } from './calculator-form.js'
import { describeTrip } from './describe-trip.js'
import { fitLine, renderPng } from './preview-image.js'
import { buildResultView } from './result-view.js'

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
