import accepts from '@fastify/accepts'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, onRequestAsyncHookHandler } from 'fastify'
import { invalidInput, problemResponses } from '../plugins/problem.js'
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
  await app.register(accepts)
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
            content: {
              'application/json': { schema: QrCodeSchema },
              [SVG]: { schema: { type: 'string' } },
              [PNG]: { schema: { type: 'string', format: 'binary' } },
            },
          },
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const generated = generateQrCode(links, request.body)
      request.qrCodeLog = describeGenerated(request.body, generated)
      if (!generated.ok) throw invalidInput(generated.errors)

      const { code } = generated
      void reply.header('vary', 'Accept')
      // JSON comes first, so it is what */* gets; and what is left where nothing of ours is wanted.
      const wanted = request.accepts().type(['application/json', SVG, PNG])
      if (wanted === SVG || wanted === PNG) return sendImage(reply, code, wanted)
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
