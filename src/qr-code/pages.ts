import type { FastifyPluginAsync } from 'fastify'
import { CALCULATOR_TYPES, type CalculatorType } from '../calculator/calculator-data.js'
import { CALCULATOR_NAMES, CHOICES, FIELD_NAMES } from '../calculator/form-view.js'
import { lazy } from '../lazy.js'
import { getFileName, generateQrCode } from './generate-qr-code.js'
import type { PrefillLinks } from './prefill-link.js'
import { describeGeneratedCode } from './qr-code-log.js'
import {
  ERROR_PATHS,
  getExampleForm,
  getFieldName,
  parseQrTestForm,
  type QrTestForm,
} from './qr-test-form.js'
import { toPngDataUrl, toSvgDataUrl } from './qr-image.js'

interface Options {
  links: PrefillLinks
}

const LEVELS = [
  { value: 'L', label: 'L: may lose 7 %' },
  { value: 'M', label: 'M: may lose 15 %' },
  { value: 'Q', label: 'Q: may lose 25 %' },
  { value: 'H', label: 'H: may lose 30 %' },
]

const withoutPrefix = (prefix: string, errors: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(errors)
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, message]) => [path.slice(prefix.length), message]),
  )

const pages: FastifyPluginAsync<Options> = async (app, { links }) => {
  const endpoint = () => `${app.publicBaseUrl()}/api/qr-code/generate`
  const { TIME_ZONE } = app.config
  const day = lazy(
    () => new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: TIME_ZONE }),
  )

  const viewOf = (form: QrTestForm, errors: Record<string, string>, code: object | null) => ({
    form,
    errors,
    errorPaths: ERROR_PATHS,
    fieldErrors: (type: CalculatorType) => withoutPrefix(`${type}.`, errors),
    code,
    choices: CHOICES,
    levels: LEVELS,
    names: FIELD_NAMES,
    calculators: CALCULATOR_TYPES.map((type) => ({ type, ...CALCULATOR_NAMES[type] })),
  })

  app.get<{ Querystring: Record<string, unknown> }>('/qr-test', async (request, reply) => {
    const views = { page: 'qr-code/qr-test', fragment: 'qr-code/_response' }
    // A look without opening makes no code.
    if (request.query.calculatorType === undefined || request.method === 'HEAD') {
      return reply.renderView(views, viewOf(getExampleForm(), {}, null))
    }
    const form = parseQrTestForm(request.query)
    if (form.request === null) return reply.renderView(views, viewOf(form, form.errors, null))

    const generated = generateQrCode(links, form.request)
    request.qrCodeLog = describeGeneratedCode(form.request, generated)
    if (!generated.ok) {
      const errors = generated.errors.map((error) => getFieldName(form.calculatorType, error))
      return reply.renderView(views, viewOf(form, Object.fromEntries(errors), null))
    }
    const { code, bytes } = generated
    return reply.renderView(
      views,
      viewOf(
        form,
        {},
        {
          url: code.link.url,
          bytes,
          version: code.version,
          errorCorrection: code.errorCorrection,
          expiresAt: day().format(code.link.expiresAt),
          svg: toSvgDataUrl(code.svg()),
          png: toPngDataUrl(code.png()),
          vessel: code.vessel,
          fileName: getFileName(code),
          endpoint: endpoint(),
          json: JSON.stringify(form.request, null, 2),
        },
      ),
    )
  })
}

export default pages
