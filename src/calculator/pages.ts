import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import { Problem } from '../plugins/problem.js'
import type { ReadPrefill, ReadPrefillLink } from '../qr-code/prefill-link.js'
import { checker } from '../validation/validator.js'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  isCalculatorType,
  type CalculatorType,
} from './calculator-data.js'
import { formOf, readForm, type CalculatorForm } from './calculator-form.js'
import { CALCULATOR_NAMES, CHOICES, formView } from './calculator-view.js'
import { prefillFaultWords } from './prefill-fault-words.js'
import { resultView } from './result-view.js'
import { Vessel } from './vessel.js'

interface Options {
  /** Reads the query of a scanned link */
  readPrefill: ReadPrefillLink
}

type Query = Record<string, unknown>

const checkVessel = checker(Vessel)

/** The vessel that a scanned form carries along in hidden fields, if it is a sound one. */
function vesselOf({ vesselName, imoNumber }: Query): Vessel | null {
  const checked = checkVessel({ name: vesselName, ...(imoNumber ? { imoNumber } : {}) })
  return checked.ok ? checked.value : null
}

const wasSubmitted = (type: CalculatorType, query: Query): boolean =>
  Object.keys(CALCULATOR_DATA[type].properties).some((name) => query[name] !== undefined)

const pages: FastifyPluginAsync<Options> = async (app, { readPrefill }) => {
  const { CHECKOUT_URL, TIME_ZONE } = app.config
  const prefills = new Counter({
    name: 'clearwake_prefill_total',
    help: 'Scanned links opened, by calculator and outcome',
    labelNames: ['calculator', 'outcome'] as const,
    registers: [app.metrics],
  })

  const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: TIME_ZONE })

  const viewOf = (
    type: CalculatorType,
    form: CalculatorForm,
    vessel: Vessel | null,
    nameMissing: boolean,
  ) => ({
    type,
    calculator: CALCULATOR_NAMES[type],
    form: formView(form, nameMissing),
    choices: CHOICES,
    vessel,
    result: form.calculation && resultView(form.calculation, vessel, CHECKOUT_URL),
  })

  const prefilledView = (type: CalculatorType, read: ReadPrefill) => {
    if (!read.ok)
      return { type, fault: prefillFaultWords(read.fault, type, (date) => day.format(date)) }
    const { prefill, expiresAt } = read
    return {
      ...viewOf(type, formOf(prefill), prefill.vessel, false),
      prefill: { madeOn: day.format(prefill.issuedAt * 1000), validUntil: day.format(expiresAt) },
    }
  }

  /** A scanned link: the loading state goes out before the link is looked at. */
  function openPrefill(
    type: CalculatorType,
    request: FastifyRequest<{ Querystring: Query }>,
    reply: FastifyReply,
  ) {
    reply.header('cache-control', 'no-store').header('x-robots-tag', 'noindex')
    return reply.loadingPage(
      'calculator/prefill',
      { type, calculator: CALCULATOR_NAMES[type] },
      async () => {
        const read = readPrefill(type, request.query)
        const outcome = read.ok ? 'filled' : read.fault.reason
        prefills.inc({ calculator: type, outcome })
        request.log.info({ calculator: type, outcome }, 'prefill')
        return app.view(
          read.ok ? 'calculator/_calculator' : 'calculator/_fault',
          prefilledView(type, read),
        )
      },
    )
  }

  const sample = resultView(
    { calculatorType: 'fuel', calculatorData: { fuelType: 'mgo', quantity: 1000, unit: 'l' } },
    null,
    undefined,
  )
  app.get('/', async (_request, reply) =>
    reply.hypermedia(
      { page: 'home/home', fragment: 'home/home' },
      {
        calculators: CALCULATOR_TYPES.map((type) => ({ type, ...CALCULATOR_NAMES[type] })),
        sample,
      },
    ),
  )

  app.get<{ Params: { type: string }; Querystring: Query }>(
    '/calculator/:type',
    async (request, reply) => {
      const { type } = request.params
      if (!isCalculatorType(type)) throw new Problem(404, 'There is no such calculator.')
      const { query } = request
      if (query.data !== undefined || query.sig !== undefined)
        return openPrefill(type, request, reply)

      const form = readForm(type, query)
      // While a person is still typing, a blank field is not a mistake yet.
      const nameMissing = !request.wantsFragment && wasSubmitted(type, query)
      return reply.hypermedia(
        { page: 'calculator/calculator', fragment: 'calculator/_answer' },
        viewOf(type, form, vesselOf(query), nameMissing),
      )
    },
  )
}

export default pages
