import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import { Problem } from '../http/problem.js'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  isCalculatorType,
  type CalculatorType,
} from './calculator-data.js'
import { toCalculatorForm, parseCalculatorForm, type CalculatorForm } from './calculator-form.js'
import { CALCULATOR_NAMES, CHOICES, buildFormView } from './form-view.js'
import type { PrefillSource, ReadPrefill } from './prefill-result.js'
import { buildResultView } from './result-view.js'

export interface PageOptions {
  readPrefill: ReadPrefill
  /** Whether guests may ask the order source what a trip can be offset with */
  hasPortfolios: boolean
}

type Query = Record<string, unknown>
type PageRequest = FastifyRequest<{ Querystring: Query }>

const wasSubmitted = (type: CalculatorType, query: Query): boolean =>
  Object.keys(CALCULATOR_DATA[type].properties).some((name) => query[name] !== undefined)

/** The trip on the home page. */
const SAMPLE = {
  words: '1\u202f000 litres of marine diesel',
  href: '/calculator/fuel?fuelType=mgo&quantity=1000&unit=l',
  result: buildResultView(
    { calculatorType: 'fuel', calculatorData: { fuelType: 'mgo', quantity: 1000, unit: 'l' } },
    null,
    undefined,
  ),
}

const pages: FastifyPluginAsync<PageOptions> = async (app, { readPrefill, hasPortfolios }) => {
  const { CHECKOUT_URL } = app.config
  const prefills = new Counter({
    name: 'clearwake_prefill_total',
    help: 'Scanned links opened, by calculator and outcome',
    labelNames: ['calculator', 'outcome'] as const,
    registers: [app.metrics],
  })

  const viewOf = (
    type: CalculatorType,
    form: CalculatorForm,
    origin: (PrefillSource & { changed: boolean }) | null,
    nameMissing = false,
  ) => ({
    type,
    calculator: CALCULATOR_NAMES[type],
    form: buildFormView(form, nameMissing),
    choices: CHOICES,
    origin,
    hasPortfolios,
    result:
      form.calculation && buildResultView(form.calculation, origin?.vessel ?? null, CHECKOUT_URL),
  })

  /** A scanned link: the loading state goes out before the link is looked at. */
  function openPrefill(type: CalculatorType, request: PageRequest, reply: FastifyReply) {
    reply.header('cache-control', 'no-store').header('x-robots-tag', 'noindex')
    const calculator = CALCULATOR_NAMES[type]
    return reply.streamPage('calculator/prefill', { type, calculator, hasPortfolios }, async () => {
      const read = readPrefill(type, request.query)
      const outcome = read.ok ? 'filled' : read.fault.reason
      prefills.inc({ calculator: type, outcome })
      request.log.info({ calculator: type, outcome }, 'prefill')
      if (!read.ok) return app.view('calculator/_prefill-error', { fault: read.fault })
      const origin = { ...read.origin, changed: false }
      return app.view(
        'calculator/_calculator',
        viewOf(type, toCalculatorForm(read.calculation), origin),
      )
    })
  }

  /** Where a form was scanned from: it carries the link along, so that only a signed vessel is shown. */
  function originOf(type: CalculatorType, { code, codeSig }: Query) {
    if (code === undefined) return null
    const read = readPrefill(type, { data: code, sig: codeSig })
    return read.ok ? { ...read.origin, changed: true } : null
  }

  app.get('/', async (_request, reply) =>
    reply.renderView(
      { page: 'home/home' },
      {
        calculators: CALCULATOR_TYPES.map((type) => ({ type, ...CALCULATOR_NAMES[type] })),
        sample: SAMPLE,
      },
    ),
  )

  app.get<{ Params: { type: string }; Querystring: Query }>(
    '/calculator/:type',
    async (request, reply) => {
      const { type } = request.params
      if (!isCalculatorType(type)) throw new Problem(404, 'There is no such calculator.')
      const { query } = request
      if (query.data !== undefined || query.sig !== undefined) {
        return openPrefill(type, request, reply)
      }
      // While a person is still typing, a blank field is not a mistake yet.
      const asked = query.asked !== undefined
      const nameMissing = asked || (!request.wantsFragment && wasSubmitted(type, query))
      return reply.renderView(
        { page: 'calculator/calculator', fragment: 'calculator/_response' },
        viewOf(type, parseCalculatorForm(type, query), originOf(type, query), nameMissing),
      )
    },
  )
}

export default pages
