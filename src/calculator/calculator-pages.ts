import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { Counter } from 'prom-client'
import type { NumberFormatter } from '../core/formatting/number-formatter.js'
import { formatUnambiguous } from '../core/formatting/number-input.js'
import { getDecimalSign, getRequestNumbers } from '../core/http/locale.js'
import { Problem } from '../core/http/problem.js'
import {
  CALCULATOR_DATA,
  CALCULATOR_TYPES,
  isCalculatorType,
  type Calculation,
  type CalculatorType,
} from './calculator-data.js'
import {
  getDefault,
  parseCalculatorForm,
  toCalculatorForm,
  toFormFields,
  type CalculatorForm,
} from './calculator-form.js'
import { describeTrip } from './describe-trip.js'
import { buildFormView, CALCULATOR_NAMES, CHOICES, describeChanges } from './form-view.js'
import type { PrefillSource } from './read-prefill.js'
import { buildOfferView } from './result-page.js'
import { buildResultView, type ResultView } from './result-view.js'

type Query = Record<string, unknown>
type PageRequest = FastifyRequest<{ Querystring: Query }>

interface ScannedSource extends PrefillSource {
  isEdited: boolean
  /** As scanned */
  calculation: Calculation
}

interface CalculatorPage {
  type: CalculatorType
  query: Query
  form: CalculatorForm
  numbers: NumberFormatter
  source: ScannedSource | null
  /** Whether blank required fields are shown as errors */
  showMissing: boolean
}

const SAMPLE_TRIP: Calculation = {
  calculatorType: 'fuel',
  calculatorData: { fuelType: 'mgo', quantity: 1000, unit: 'l' },
}

const hasFormFields = (type: CalculatorType, query: Query): boolean =>
  Object.keys(CALCULATOR_DATA[type].properties).some(
    (name) => name !== 'framework' && query[name] !== undefined,
  )

const describeResult = ({ mass, isWellToWake }: ResultView): string =>
  `${mass.value} ${mass.unit} CO₂e${isWellToWake ? ', including the production of the fuel (well-to-wake)' : ''}`

/** The trip in one line; `null` if the result says the same. */
const describeShownTrip = (calculation: Calculation, numbers: NumberFormatter): string | null =>
  calculation.calculatorType === 'custom'
    ? (calculation.calculatorData.description ?? null)
    : describeTrip(calculation, numbers)

/** The fields of a form that only asks for the guests: all others of the trip. */
function listGuestsFields(calculation: Calculation, source: PrefillSource | null) {
  const { guests = '', ...fields } = toFormFields(calculation)
  return {
    guests,
    fields: { ...fields, ...(source && { code: source.data, codeSig: source.sig }) },
  }
}

/** The parameters of a query, excluding empty and repeated parameters. */
const toSearchParams = (query: Query): URLSearchParams =>
  new URLSearchParams(
    Object.entries(query).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string' && entry[1] !== '',
    ),
  )

/** Some proxies reject longer headers. Without the header, the page keeps its URL. */
const MAX_SHARED_URL_LENGTH = 4_000

/**
 * The page's URL, as it can be shared: without defaults, blank fields and lines, and with ambiguous
 * numbers replaced by a notation that is unambiguous in every locale.
 */
function toSharedUrl(type: CalculatorType, query: Query, form: CalculatorForm): string {
  const params = toSearchParams(query)
  params.delete('submitted')
  for (const name of [...params.keys()]) {
    const [line] = /^furtherLines\.\d+\./.exec(name) ?? []
    if (line !== undefined && !params.has(`${line}quantity`)) params.delete(name)
  }
  for (const [name, value] of [...params]) {
    if (value === getDefault(type, name)) params.delete(name)
  }
  for (const [field, { value }] of Object.entries(form.readings)) {
    if (value !== null) params.set(field, formatUnambiguous(String(value)))
  }
  return `/calculator/${type}${params.size > 0 ? '?' : ''}${params.toString()}`
}

const pages: FastifyPluginAsync = async (app) => {
  const { readPrefill, resultPage } = app
  const { CHECKOUT_URL, TIME_ZONE } = app.config
  const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: TIME_ZONE })
  const prefills = new Counter({
    name: 'clearwake_prefill_total',
    help: 'Scanned links opened, by calculator and outcome',
    labelNames: ['calculator', 'outcome'] as const,
    registers: [app.metrics],
  })

  /** What guests can buy, and where: in the operator's own shop, or in Clearwake. */
  async function getOffer({ type, query, form, source }: CalculatorPage) {
    const { calculation } = form
    if (calculation === null) return null
    const offer = (await resultPage.findOffer?.({ calculation, source })) ?? null
    if (CHECKOUT_URL !== undefined) {
      const path = `/calculator/${type}/checkout`
      // The shop decides what it sells without a portfolio.
      return buildOfferView(offer && { ...offer, price: null }, {
        path,
        query: toSearchParams(query),
        parameter: 'portfolio',
        hasShares: false,
      })
    }
    if (offer === null) return null
    const fields = new URLSearchParams(offer.fields)
    return buildOfferView(offer, {
      path: '/offset',
      query: fields,
      parameter: 'portfolioId',
      hasShares: true,
    })
  }

  const buildView = async (page: CalculatorPage) => {
    const { type, form, numbers, source, showMissing } = page
    const query = toSearchParams(page.query)
    const shown = form.calculation ?? form.partial?.calculation ?? null
    const result = shown && buildResultView(shown, numbers)
    const sharedUrl = source?.isEdited === false ? source.url : toSharedUrl(type, page.query, form)
    const isPayable = form.calculation !== null && result !== null && result.co2eKg > 0
    return {
      type,
      calculator: CALCULATOR_NAMES[type],
      form: buildFormView(type, form, numbers, { showMissing, query }),
      choices: CHOICES,
      source,
      changes:
        source?.isEdited && form.calculation !== null
          ? describeChanges(
              toCalculatorForm(source.calculation),
              toCalculatorForm(form.calculation),
              numbers,
            )
          : [],
      calculatedOn: dates.format(new Date()),
      address: app.publicBaseUrl(),
      result,
      trip: shown && describeShownTrip(shown, numbers),
      sharedUrl,
      preview: describePage(page, result, sharedUrl),
      /** The fields of the small form that asks for the guests; `null` if it is not needed */
      guestsForm:
        form.calculation === null || source?.calculation.calculatorData.guests !== undefined
          ? null
          : listGuestsFields(form.calculation, source),
      offer: isPayable ? await getOffer(page) : null,
    }
  }

  /** What search engines and other apps show about a page. */
  function describePage({ type, source }: CalculatorPage, result: ResultView | null, url: string) {
    const { title, summary } = CALCULATOR_NAMES[type]
    const subject = source ? `Trip of ${source.vessel.name}` : `${title} calculator`
    if (result === null)
      return { title: subject, description: `Calculate what a boat trip emitted. ${summary}` }
    return {
      title: subject,
      description: `${source ? `${source.vessel.name}: ` : ''}${describeResult(result)}`,
      image: app.publicBaseUrl() + url.replace(/^\/calculator\/\w+/, '$&/preview.png'),
    }
  }

  /** Whether the page that requests a fragment already shows a result. */
  function hasResult({ headers }: PageRequest, type: CalculatorType): boolean {
    const url = headers['hx-current-url']
    if (typeof url !== 'string' || !URL.canParse(url)) return false
    const query = Object.fromEntries(new URL(url).searchParams)
    return (
      query.data !== undefined ||
      parseCalculatorForm(type, query, { decimalSign: '.' }).calculation !== null
    )
  }

  /** Sends the loading state of a scanned link first, then the calculator or the error. */
  async function openPrefill(type: CalculatorType, request: PageRequest, reply: FastifyReply) {
    reply.header('cache-control', 'no-store').header('x-robots-tag', 'noindex')
    const prefill = readPrefill(type, request.query)
    const numbers = getRequestNumbers(request)
    const view = prefill.ok
      ? await buildView({
          type,
          query: request.query,
          form: toCalculatorForm(prefill.calculation),
          numbers,
          source: { ...prefill.source, calculation: prefill.calculation, isEdited: false },
          showMissing: false,
        })
      : null
    const title = prefill.ok ? `Trip of ${prefill.source.vessel.name}` : prefill.error.title
    const preview = view?.preview ?? { title, description: title }
    const page = { title, preview, isFocused: prefill.ok }
    return reply.streamPage('calculator/prefill', page, async () => {
      const outcome = prefill.ok ? 'filled' : prefill.error.reason
      prefills.inc({ calculator: type, outcome })
      if (prefill.ok) {
        resultPage.onStep('scan')
        resultPage.onStep('result')
      }
      request.log.info({ calculator: type, outcome }, 'prefill')
      return prefill.ok
        ? app.view('calculator/_calculator', view ?? {})
        : app.view('calculator/_prefill-error', {
            error: prefill.error,
            contactUrl: app.brand.contactUrl,
          })
    })
  }

  /** Checks the scanned link again when the form sends it back, because a user can change it. */
  function readSource(type: CalculatorType, { code, codeSig }: Query) {
    if (code === undefined) return null
    const prefill = readPrefill(type, { data: code, sig: codeSig })
    return prefill.ok
      ? { ...prefill.source, calculation: prefill.calculation, isEdited: true }
      : null
  }

  app.get('/', async (request, reply) => {
    const numbers = getRequestNumbers(request)
    return reply.renderView(
      { page: 'home/home' },
      {
        calculators: CALCULATOR_TYPES.map((type) => ({ type, ...CALCULATOR_NAMES[type] })),
        sellsCredits: resultPage.findOffer !== null,
        sample: {
          title: `${numbers.whole(1000)} litres of marine diesel`,
          href: '/calculator/fuel?fuelType=mgo&quantity=1000&unit=l#outcome',
          result: buildResultView(SAMPLE_TRIP, numbers),
        },
      },
    )
  })

  app.get<{ Params: { type: string }; Querystring: Query }>(
    '/calculator/:type',
    async (request, reply) => {
      const { type } = request.params
      if (!isCalculatorType(type)) throw new Problem(404, 'This calculator does not exist.')
      const { query } = request
      if (query.data !== undefined || query.sig !== undefined) {
        return openPrefill(type, request, reply)
      }
      // While the user is typing, a blank field is not an error yet.
      const isSubmitted = query.submitted !== undefined
      const numbers = getRequestNumbers(request)
      const decimalSign = getDecimalSign(request.headers['accept-language'])
      const form = parseCalculatorForm(type, query, { decimalSign })
      const isUpdate = request.wantsFragment && hasResult(request, type)
      // While a value is invalid, the page keeps the result and the URL of the earlier values.
      const keepsResult = isUpdate && form.calculation === null && form.partial === null
      if (request.wantsFragment && !keepsResult) {
        const sharedUrl = toSharedUrl(type, query, form)
        if (sharedUrl.length <= MAX_SHARED_URL_LENGTH) reply.header('hx-replace-url', sharedUrl)
      }
      if (form.calculation !== null && request.method === 'GET' && !isUpdate) {
        resultPage.onStep('result')
      }
      const view = await buildView({
        type,
        query,
        form,
        numbers,
        source: readSource(type, query),
        showMissing: isSubmitted || (!request.wantsFragment && hasFormFields(type, query)),
      })
      return reply.renderView(
        { page: 'calculator/calculator', fragment: 'calculator/_response' },
        { ...view, keepsResult },
      )
    },
  )
}

export default pages
