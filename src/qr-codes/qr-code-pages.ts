import type { FastifyPluginAsync } from 'fastify'
import { CALCULATOR_TYPES, type CalculatorType } from '../calculator/calculator-data.js'
import { describeTrip } from '../calculator/describe-trip.js'
import {
  CALCULATOR_NAMES,
  CHOICES,
  describeReadings,
  FIELD_NAMES,
  localizeLimits,
} from '../calculator/form-view.js'
import { getNumberFormatter, type NumberFormatter } from '../core/formatting/number-formatter.js'
import { RECOVERABLE_SHARE, toPngDataUrl, toSvgDataUrl } from '../core/html/qr-image.js'
import { getDecimalSign, getLocale } from '../core/http/locale.js'
import {
  generateQrCode,
  getFileName,
  type QrCode,
  type QrCodeListener,
} from './generate-qr-code.js'
import { describeResult } from './qr-code-log.js'
import type { QrCodeRequest } from './qr-code-schemas.js'
import {
  getEmptyForm,
  getExampleForm,
  listErrorPaths,
  parseQrTestForm,
  toFormPath,
  type QrTestForm,
} from './qr-test-form.js'

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
