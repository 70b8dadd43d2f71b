import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, onRequestAsyncHookHandler } from 'fastify'
import { invalidInput, ProblemDetails } from '../plugins/problem.js'
import {
  generateQrCode,
  QrCodeRequestSchema,
  QrCodeSchema,
  type QrCode,
} from './generate-qr-code.js'
import type { PrefillLinks } from './prefill-link.js'
import { describeAsked, describeGenerated } from './qr-code-log.js'

interface Options {
  links: PrefillLinks
}

/** Room for the longest names and descriptions, escaped in JSON, and no more. */
const BODY_LIMIT = 16 * 1024

const PNG = 'image/png'
const SVG = 'image/svg+xml'

/** Which of our answers the client wants most (RFC 9110, 12.5.1); JSON where it does not say. */
function wantedType(accept: string | undefined): typeof PNG | typeof SVG | 'application/json' {
  const ranges = (accept ?? '').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))
    return { type, q: quality === undefined ? 1 : Number(quality.slice(2)) || 0 }
  })
  const offers = ['application/json', SVG, PNG] as const
  const qualityOf = (offer: string): number =>
    Math.max(0, ...ranges.filter(({ type }) => type === offer).map(({ q }) => q))
  const best = offers.reduce((a, b) => (qualityOf(b) > qualityOf(a) ? b : a))
  return best
}

const dataUrl = (type: string, content: Buffer): string =>
  `data:${type};base64,${content.toString('base64')}`

export const pngDataUrl = (code: QrCode): string => dataUrl(PNG, code.png())
export const svgDataUrl = (code: QrCode): string => dataUrl(SVG, Buffer.from(code.svg()))

const fileName = ({ calculation, link }: QrCode, extension: string): string =>
  `attachment; filename="clearwake-${calculation.calculatorType}-${link.generatedAt.toISOString().slice(0, 10)}.${extension}"`

function sendImage(reply: FastifyReply, code: QrCode, type: typeof PNG | typeof SVG) {
  return type === SVG
    ? reply
        .type(`${SVG}; charset=utf-8`)
        .header('content-disposition', fileName(code, 'svg'))
        .send(code.svg())
    : reply.type(PNG).header('content-disposition', fileName(code, 'png')).send(code.png())
}

const markQrCodeCall: onRequestAsyncHookHandler = async (request) => {
  request.qrCodeLog = {}
}

const routes: FastifyPluginAsyncTypebox<Options> = async (app, { links }) => {
  const guards = app.config.QR_REQUIRE_ADMIN ? [app.requireAdministrator] : []

  app.post(
    '/api/qr-code/generate',
    {
      bodyLimit: BODY_LIMIT,
      config: { rateLimit: { max: app.config.QR_RATE_LIMIT_PER_MINUTE, timeWindow: '1 minute' } },
      onRequest: [markQrCodeCall, ...guards],
      preValidation: async (request) => {
        request.qrCodeLog = describeAsked(request.body)
      },
      schema: {
        tags: ['QR codes'],
        summary: 'Generate a QR code that opens a calculator filled in',
        description:
          'Answers JSON with SVG and PNG in it, or with `Accept: image/svg+xml` or `image/png` the picture itself.',
        ...(app.config.QR_REQUIRE_ADMIN ? { security: [{ bearer: [] }] } : {}),
        body: QrCodeRequestSchema,
        response: {
          200: {
            description: 'The code',
            content: { 'application/json': { schema: QrCodeSchema } },
          },
          '4xx': ProblemDetails,
        },
      },
    },
    async (request, reply) => {
      const generated = generateQrCode(links, request.body)
      request.qrCodeLog = describeGenerated(request.body, generated)
      if (!generated.ok) throw invalidInput(generated.errors)

      const { code } = generated
      void reply.header('vary', 'Accept')
      const wanted = wantedType(request.headers.accept)
      if (wanted !== 'application/json') return sendImage(reply, code, wanted)
      const { link } = code
      return {
        calculatorType: code.calculation.calculatorType,
        url: link.url,
        data: link.data,
        sig: link.sig,
        generatedAt: link.generatedAt.toISOString(),
        expiresAt: link.expiresAt.toISOString(),
        version: code.version,
        errorCorrection: code.errorCorrection,
        svg: code.svg(),
        png: pngDataUrl(code),
      }
    },
  )
}

export default routes
