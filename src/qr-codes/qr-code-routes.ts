import accepts from '@fastify/accepts'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyReply } from 'fastify'
import { getAdminSecurity } from '../accounts/security.js'
import { createValidationProblem, problemResponses } from '../core/http/problem.js'
import {
  generateQrCode,
  getFileName,
  toQrCodeResponse,
  type QrCode,
  type QrCodeListener,
} from './generate-qr-code.js'
import { describeResult } from './qr-code-log.js'
import { QrCodeRequestSchema, QrCodeResponse } from './qr-code-schemas.js'

/** Room for the longest names and descriptions, escaped in JSON. */
const MAX_BODY_BYTES = 16 * 1024

const PNG = 'image/png'
const SVG = 'image/svg+xml'

function sendImage(reply: FastifyReply, code: QrCode, type: typeof PNG | typeof SVG) {
  const [extension, image] = type === SVG ? ['svg', code.renderSvg()] : ['png', code.renderPng()]
  return reply
    .type(type === SVG ? `${SVG}; charset=utf-8` : PNG)
    .header('content-disposition', `attachment; filename="${getFileName(code)}.${extension}"`)
    .send(image)
}

const routes: FastifyPluginAsyncTypebox<{ onGenerated: QrCodeListener }> = async (
  app,
  { onGenerated },
) => {
  await app.register(accepts)

  app.post(
    '/api/qr-code/generate',
    {
      bodyLimit: MAX_BODY_BYTES,
      config: { isQrCodeCall: true, permission: 'qr:write' },
      // Guests may generate codes, so credentials that are not valid are no error.
      async onRequest(request) {
        if (!app.config.QR_REQUIRE_ADMIN) await app.authenticate(request).catch(() => undefined)
      },
      schema: {
        tags: ['QR codes'],
        operationId: 'generateQrCode',
        summary: 'Generate a QR code that opens a pre-filled calculator',
        description:
          'Returns JSON with SVG and PNG, or the image itself if Accept prefers image/svg+xml or image/png.',
        ...(app.config.QR_REQUIRE_ADMIN ? { security: getAdminSecurity('qr:write') } : {}),
        body: QrCodeRequestSchema,
        response: {
          200: {
            description: 'The QR code',
            headers: {
              'Content-Disposition': Type.String({
                description: 'File name, for image responses',
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
      const result = generateQrCode(app.prefillLinks, request.body)
      request.qrCodeLog = describeResult(request.body, result)
      if (!result.ok) throw createValidationProblem(result.errors)

      const { code } = result
      if (request.principal !== null) onGenerated(code)
      void reply.header('vary', 'Accept')
      // JSON comes first, so it is the response to */* and to unsupported types.
      const preferred = request.accepts().type(['application/json', SVG, PNG])
      if (preferred === SVG || preferred === PNG) return sendImage(reply, code, preferred)
      return toQrCodeResponse(code)
    },
  )
}

export default routes
