import { Type } from '@sinclair/typebox'
import type { FastifyPluginAsync } from 'fastify'
import {
  CALCULATOR_TYPES,
  EXAMPLES,
  isCalculatorType,
  type CalculatorType,
} from '../calculator/calculator-data.js'
import { parseCalculatorForm, type CalculatorForm } from '../calculator/calculator-form.js'
import { describeTrip } from '../calculator/describe-trip.js'
import {
  CALCULATOR_NAMES,
  CHOICES,
  describeMissingField,
  describeReadings,
  FIELD_NAMES,
  listFieldNames,
  localizeLimits,
} from '../calculator/form-view.js'
import { checker } from '../calculator/validate-calculation.js'
import { Vessel } from '../calculator/vessel.js'
import { getNumberFormatter, type NumberFormatter } from '../core/formatting/number-formatter.js'
import { parseNumber } from '../core/formatting/number-input.js'
import { RECOVERABLE_SHARE, toPngDataUrl, toSvgDataUrl } from '../core/html/qr-image.js'
import { getDecimalSign, getLocale } from '../core/http/locale.js'
import { toTrimmedText } from '../core/validation/text-rules.js'
import {
  generateQrCode,
  getFileName,
  type QrCode,
  type QrCodeListener,
} from './generate-qr-code.js'
import { describeResult } from './qr-code-log.js'
import { DEFAULT_IMAGE, ImageOptions, type QrCodeRequest } from './qr-code-schemas.js'

type Query = Record<string, unknown>

/** The form of the QR test page. Fields are named by their path: `vessel.name`, `fuel.unit`. */
export interface QrTestForm {
  calculatorType: CalculatorType
  /** The fields of every calculator, including those not selected */
  calculators: Record<CalculatorType, CalculatorForm>
  values: Record<(typeof COMMON_FIELDS)[number], string>
  /** By field name */
  errors: Record<string, string>
  /** The request, if every field is valid */
  request: QrCodeRequest | null
}

const COMMON_FIELDS = [
  'vessel.name',
  'vessel.imoNumber',
  'image.size',
  'image.margin',
  'image.errorCorrection',
] as const

/** The names of every field on the page that can have an error. */
const listErrorPaths = ({ calculators }: QrTestForm): string[] => [
  ...COMMON_FIELDS,
  ...CALCULATOR_TYPES.flatMap((type) =>
    listFieldNames(type, calculators[type].lines).map((name) => `${type}.${name}`),
  ),
]

/** The form field of a request path: `calculatorData.unit` is `fuel.unit` in the form. */
const toFormPath = (type: CalculatorType, path: string): string =>
  path.replace(/^calculatorData\./, `${type}.`)

/** Validates everything but the calculation, which its own form validates. */
const validateRest = checker(Type.Object({ vessel: Vessel, image: Type.Partial(ImageOptions) }))

/** The parsed number, or the text itself, which validation then rejects. */
function toNumber(text: string): unknown {
  const parsed = parseNumber(text)
  return parsed.ok ? parsed.value : text
}

/** Parses the submitted form; invalid values are kept, with an error for each. */
function parseQrTestForm(query: Query, decimalSign?: '.'): QrTestForm {
  const selected = toTrimmedText(query.calculatorType)
  const calculatorType = isCalculatorType(selected) ? selected : 'fuel'
  const values = Object.fromEntries(
    COMMON_FIELDS.map((name) => [name, toTrimmedText(query[name])]),
  ) as QrTestForm['values']
  values['image.errorCorrection'] ||= DEFAULT_IMAGE.errorCorrection
  const calculators = Object.fromEntries(
    CALCULATOR_TYPES.map((type) => [
      type,
      parseCalculatorForm(type, query, { prefix: `${type}.`, decimalSign }),
    ]),
  ) as Record<CalculatorType, CalculatorForm>

  const image = {
    ...(values['image.size'] ? { size: toNumber(values['image.size']) } : {}),
    ...(values['image.margin'] ? { margin: toNumber(values['image.margin']) } : {}),
    errorCorrection: values['image.errorCorrection'],
  }
  const imoNumber = values['vessel.imoNumber']
  const vessel = { name: values['vessel.name'], ...(imoNumber ? { imoNumber } : {}) }
  const rest = validateRest({ vessel, image })

  const { calculation, missing, errors: fieldErrors } = calculators[calculatorType]
  const errors: Record<string, string> = {}
  for (const name of missing) errors[`${calculatorType}.${name}`] = describeMissingField(name)
  for (const [name, message] of Object.entries(fieldErrors)) {
    errors[`${calculatorType}.${name}`] = message
  }
  if (!rest.ok) for (const { path, message } of rest.errors) errors[path] = message
  if (vessel.name === '') errors['vessel.name'] = 'enter the vessel name'
  const request = rest.ok && calculation ? { ...calculation, ...rest.value } : null
  return { calculatorType, calculators, values, errors, request }
}

const EXAMPLE_QUERY: Query = {
  'vessel.name': 'Eendracht',
  'vessel.imoNumber': '8814275',
  'image.size': String(DEFAULT_IMAGE.size),
  'image.margin': String(DEFAULT_IMAGE.margin),
  'image.errorCorrection': DEFAULT_IMAGE.errorCorrection,
  ...Object.fromEntries(
    Object.values(EXAMPLES).flatMap(({ calculatorType, calculatorData }) =>
      Object.entries(calculatorData).map(([name, value]) => [
        `${calculatorType}.${name}`,
        String(value),
      ]),
    ),
  ),
}

/** The initial form, filled in with trips that are valid without changes. */
const getExampleForm = (): QrTestForm => parseQrTestForm(EXAMPLE_QUERY)

/** The initial form for staff is empty, because an example could end up on a label. */
const getEmptyForm = (): QrTestForm => parseQrTestForm({ calculatorType: 'fuel' })

const QR = { config: { permission: 'qr:write' } } as const

const pages: FastifyPluginAsync<{ onGenerated: QrCodeListener }> = async (app, { onGenerated }) => {
  const { TIME_ZONE } = app.config
  const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: TIME_ZONE })

  const buildCodeView = (
    code: QrCode,
    bytes: number,
    request: QrCodeRequest,
    numbers: NumberFormatter,
  ) => ({
    url: code.link.url,
    bytes: numbers.whole(bytes),
    trip: describeTrip(code.calculation, numbers),
    version: code.version,
    errorCorrection: code.errorCorrection,
    expiresAt: dates.format(code.link.expiresAt),
    svg: toSvgDataUrl(code.renderSvg()),
    png: toPngDataUrl(code.renderPng()),
    vessel: code.vessel,
    fileName: getFileName(code),
    endpoint: `${app.publicBaseUrl()}/api/qr-code/generate`,
    json: JSON.stringify(request, null, 2),
  })

  app.get<{ Querystring: Record<string, unknown> }>('/qr-test', QR, async (request, reply) => {
    const { query } = request
    // Staff also see the portal navigation. On a public page, an expired session is not an error.
    if (request.principal === null) {
      await app.authenticate(request).catch(() => undefined)
    }
    const numbers = getNumberFormatter(getLocale(request.headers['accept-language']))
    const send = (
      form: QrTestForm,
      errors: Record<string, string>,
      code: ReturnType<typeof buildCodeView> | null = null,
    ) =>
      reply.renderView(
        { page: 'qr-codes/qr-test', fragment: 'qr-codes/_response' },
        { ...buildFormView(form, errors, numbers), code },
      )

    // HEAD requests generate no code.
    if (query.calculatorType === undefined || request.method === 'HEAD') {
      return send(request.principal === null ? getExampleForm() : getEmptyForm(), {})
    }
    const form = parseQrTestForm(query, getDecimalSign(request.headers['accept-language']))
    if (form.request === null) return send(form, form.errors)

    const result = generateQrCode(app.prefillLinks, form.request)
    request.qrCodeLog = describeResult(form.request, result)
    if (!result.ok) {
      const errors = result.errors.map(({ path, message }): [string, string] => [
        toFormPath(form.calculatorType, path),
        message,
      ])
      return send(form, Object.fromEntries(errors))
    }
    const { code, bytes } = result
    if (request.principal !== null) onGenerated(code)
    return send(form, {}, buildCodeView(code, bytes, form.request, numbers))
  })
}

/** @param errors by form field */
function buildFormView(form: QrTestForm, errors: Record<string, string>, numbers: NumberFormatter) {
  const localized = Object.fromEntries(
    Object.entries(errors).map(([path, message]) => [path, localizeLimits(message, numbers)]),
  )
  return {
    form,
    readings: describeReadings(form.calculators[form.calculatorType]),
    errors: localized,
    errorPaths: listErrorPaths(form),
    fieldErrors: (type: CalculatorType) => selectErrors(`${type}.`, localized),
    choices: CHOICES,
    levels: Object.entries(RECOVERABLE_SHARE).map(([value, share]) => ({
      value,
      label: `${value}: recovers ${numbers.percent(share)}`,
    })),
    names: FIELD_NAMES,
    calculators: CALCULATOR_TYPES.map((type) => ({ type, ...CALCULATOR_NAMES[type] })),
  }
}

/** The errors for the fields with a prefix, by field name without the prefix. */
const selectErrors = (prefix: string, errors: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(errors)
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, message]) => [path.slice(prefix.length), message]),
  )

export default pages
