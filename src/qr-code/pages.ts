import type { FastifyPluginAsync } from 'fastify'
import { CALCULATOR_TYPES, type CalculatorType } from '../calculator/calculator-data.js'
import { CALCULATOR_NAMES, CHOICES } from '../calculator/calculator-view.js'
import { generateQrCode } from './generate-qr-code.js'
import { ERROR_CORRECTION_LEVELS } from './qr-image.js'
import type { PrefillLinks } from './prefill-link.js'
import { describeGenerated } from './qr-code-log.js'
import {
  ERROR_PATHS,
  exampleForm,
  fieldOf,
  readQrTestForm,
  type QrTestForm,
} from './qr-test-form.js'
import { pngDataUrl, svgDataUrl } from './routes.js'

interface Options {
  links: PrefillLinks
}

const withoutPrefix = (prefix: string, errors: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(errors)
      .filter(([path]) => path.startsWith(prefix))
      .map(([path, message]) => [path.slice(prefix.length), message]),
  )

const pages: FastifyPluginAsync<Options> = async (app, { links }) => {
  const endpoint = () => `${app.publicBaseUrl()}/api/qr-code/generate`
  const day = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'long',
    timeZone: app.config.TIME_ZONE,
  })

  const viewOf = (form: QrTestForm, errors: Record<string, string>, code: object | null) => ({
    form,
    errors,
    errorPaths: ERROR_PATHS,
    fieldErrors: (type: CalculatorType) => withoutPrefix(`${type}.`, errors),
    code,
    choices: CHOICES,
    levels: ERROR_CORRECTION_LEVELS,
    calculators: CALCULATOR_TYPES.map((type) => ({ type, ...CALCULATOR_NAMES[type] })),
  })

  app.get<{ Querystring: Record<string, unknown> }>(
    '/qr-test',
    {
      config: { rateLimit: { max: app.config.QR_RATE_LIMIT_PER_MINUTE, timeWindow: '1 minute' } },
      ...(app.config.QR_REQUIRE_ADMIN ? { onRequest: app.requireAdministrator } : {}),
    },
    async (request, reply) => {
      const views = { page: 'qr-code/qr-test', fragment: 'qr-code/_answer' }
      if (request.query.calculatorType === undefined) {
        return reply.hypermedia(views, viewOf(exampleForm(), {}, null))
      }
      const form = readQrTestForm(request.query)
      if (form.request === null) return reply.hypermedia(views, viewOf(form, form.errors, null))

      const generated = generateQrCode(links, form.request)
      request.qrCodeLog = describeGenerated(form.request, generated)
      if (!generated.ok) {
        const errors = generated.errors.map((error) => fieldOf(form.calculatorType, error))
        return reply.hypermedia(views, viewOf(form, Object.fromEntries(errors), null))
      }
      const { code, bytes } = generated
      return reply.hypermedia(
        views,
        viewOf(
          form,
          {},
          {
            url: code.link.url,
            bytes,
            version: code.version,
            errorCorrection: code.errorCorrection,
            expiresAt: day.format(code.link.expiresAt),
            svg: svgDataUrl(code),
            png: pngDataUrl(code),
            vessel: code.vessel,
            fileName: `clearwake-${form.calculatorType}`,
            endpoint: endpoint(),
            json: JSON.stringify(form.request, null, 2),
          },
        ),
      )
    },
  )
}

export default pages
