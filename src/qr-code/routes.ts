import accepts from '@fastify/accepts'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { ADMIN_SECURITY } from '../plugins/auth-guard.js'
import { createValidationProblem, problemResponses } from '../http/problem.js'
import { getFileName, generateQrCode, type QrCode } from './generate-qr-code.js'
import type { PrefillLinks } from './prefill-link.js'
import { describeGeneratedCode } from './qr-code-log.js'
import { QrCodeResponse, QrCodeRequestSchema } from './qr-code-request.js'
import { toPngDataUrl } from './qr-image.js'

interface Options {
  links: PrefillLinks
}

/** Room for the longest names and descriptions, escaped in JSON, and no more. */
const BODY_LIMIT = 16 * 1024

const PNG = 'image/png'
const SVG = 'image/svg+xml'

function sendPicture(reply: FastifyReply, code: QrCode, type: typeof PNG | typeof SVG) {
  const [extension, picture] = type === SVG ? ['svg', code.svg()] : ['png', code.png()]
  return reply
    .type(type === SVG ? `${SVG}; charset=utf-8` : PNG)
    .header('content-disposition', `attachment; filename="${getFileName(code)}.${extension}"`)
    .send(picture)
}

const routes: FastifyPluginAsyncTypebox<Options> = async (app, { links }) => {
  await app.register(accepts)

  app.post(
    '/api/qr-code/generate',
    {
      bodyLimit: BODY_LIMIT,
      config: { isQrCodeCall: true },
      schema: {
        tags: ['QR codes'],
        summary: 'Generate a QR code that opens a calculator filled in',
        description:
          'Answers JSON with SVG and PNG in it, or the picture itself where Accept asks for image/svg+xml or image/png.',
        ...(app.config.QR_REQUIRE_ADMIN ? { security: ADMIN_SECURITY } : {}),
        body: QrCodeRequestSchema,
        response: {
          200: {
            description: 'The code',
            headers: {
              'Content-Disposition': Type.String({
                description: 'Of a picture: a name to keep it under',
              }),
            },
            content: {
              'application/json': { schema: QrCodeResponse },
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
      request.qrCodeLog = describeGeneratedCode(request.body, generated)
      if (!generated.ok) throw createValidationProblem(generated.errors)

      const { code } = generated
      void reply.header('vary', 'Accept')
      // JSON comes first, so it is what */* gets; and what is left where nothing of ours is wanted.
      const wanted = request.accepts().type(['application/json', SVG, PNG])
      if (wanted === SVG || wanted === PNG) return sendPicture(reply, code, wanted)
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
        png: toPngDataUrl(code.png()),
      }
    },
  )
}

export default routes
