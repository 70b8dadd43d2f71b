import { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import accepts from '@fastify/accepts'
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import yazl from 'yazl'
import { getAdminSecurity } from '../accounts/security.js'
import { EXAMPLES } from '../calculator/calculator-data.js'
import { createValidationProblem, problemResponses } from '../core/http/problem.js'
import type { FieldError } from '../core/validation/field-errors.js'
import { stringEnum } from '../core/validation/formats.js'
import {
  generateQrCode,
  getFileName,
  toQrCodeResponse,
  type QrCode,
  type QrCodeListener,
} from './generate-qr-code.js'
import type { PrefillLinks } from './prefill-link.js'
import { QrCodeRequestSchema, QrCodeResponse, type QrCodeRequest } from './qr-code-schemas.js'

const MAX_CODES = 500
const MAX_BODY_BYTES = 2 * 1024 * 1024

const ZIP = 'application/zip'
const NDJSON = 'application/x-ndjson'

const BulkRequest = Type.Object(
  {
    codes: Type.Array(QrCodeRequestSchema, { minItems: 1, maxItems: MAX_CODES }),
    format: Type.Optional(
      stringEnum<'svg' | 'png'>(['svg', 'png'], {
        default: 'svg',
        description: 'Format of the files in the ZIP',
      }),
    ),
  },
  {
    title: 'QR codes to generate',
    additionalProperties: false,
    examples: [
      {
        codes: [
          { ...EXAMPLES.fuel, vessel: { name: 'Ever Given', imoNumber: '9811000' } },
          { ...EXAMPLES.distance, vessel: { name: 'Queen Mary 2' } },
        ],
        format: 'svg',
      },
    ],
  },
)

/**
 * Generates all codes, or throws a Problem (422) with the errors for every code. Each code takes a
 * few milliseconds, so other requests are served between two codes.
 */
async function generateAll(links: PrefillLinks, requests: QrCodeRequest[]): Promise<QrCode[]> {
  const codes: QrCode[] = []
  const errors: FieldError[] = []
  for (const [index, request] of requests.entries()) {
    const result = generateQrCode(links, request)
    if (result.ok) codes.push(result.code)
    else {
      errors.push(
        ...result.errors.map(({ path, message }) => ({ path: `codes.${index}.${path}`, message })),
      )
    }
    await setImmediate()
  }
  if (errors.length > 0) throw createValidationProblem(errors)
  return codes
}

/** Gives each code a unique file name: equal names get the code's position in the request. */
function assignFileNames(codes: readonly QrCode[]): [name: string, code: QrCode][] {
  const names = codes.map(getFileName)
  return codes.map((code, i) => {
    const name = names[i] ?? ''
    return [names.indexOf(name) === names.lastIndexOf(name) ? name : `${name}-${i + 1}`, code]
  })
}

async function* renderLines(codes: readonly QrCode[]): AsyncGenerator<string> {
  for (const code of codes) {
    await setImmediate()
    yield `${JSON.stringify(toQrCodeResponse(code))}\n`
  }
}

/** Renders one file at a time, as fast as the client reads. */
function renderZip(codes: readonly QrCode[], format: 'svg' | 'png'): Readable {
  const zip = new yazl.ZipFile()
  for (const [name, code] of assignFileNames(codes)) {
    zip.addReadStreamLazy(`${name}.${format}`, { compress: format === 'svg' }, (done) => {
      const image = format === 'svg' ? Buffer.from(code.renderSvg()) : code.renderPng()
      done(null, Readable.from([image]))
    })
  }
  zip.end()
  return Readable.from(zip.outputStream as AsyncIterable<Buffer>)
}

interface Options {
  onGenerated: QrCodeListener
  /** Takes codes from the client's limit, in addition to one per request. Throws a Problem (429). */
  countCodes: (request: FastifyRequest, count: number) => Promise<void>
}

const routes: FastifyPluginAsyncTypebox<Options> = async (app, { onGenerated, countCodes }) => {
  await app.register(accepts)

  app.post(
    '/api/qr-codes',
    {
      bodyLimit: MAX_BODY_BYTES,
      config: { permission: 'qr:write' },
      onRequest: app.requireAdministrator,
      // A ZIP is already compressed.
      compress: false,
      schema: {
        tags: ['QR codes'],
        operationId: 'generateQrCodes',
        summary: 'Generate up to 500 QR codes',
        description:
          'Returns a ZIP with an SVG or PNG file for each code, or, if Accept prefers application/x-ndjson, newline-delimited JSON with the response of POST /api/qr-code/generate for each code. If any code is invalid, none is generated.',
        security: getAdminSecurity('qr:write'),
        body: BulkRequest,
        response: {
          200: {
            description: 'The QR codes, in the order of the request',
            headers: { 'Content-Disposition': Type.String({ description: 'File name' }) },
            content: {
              [ZIP]: { schema: { type: 'string', format: 'binary' } },
              [NDJSON]: { schema: QrCodeResponse },
            },
          },
          ...problemResponses,
        },
      },
    },
    async (request, reply) => {
      const { codes: requests, format = 'svg' } = request.body
      await countCodes(request, requests.length - 1)
      const codes = await generateAll(app.prefillLinks, requests)
      request.log.info({ codes: codes.length }, 'qr codes')
      for (const code of codes) onGenerated(code)
      void reply.header('vary', 'Accept')
      if (request.accepts().type([ZIP, NDJSON]) === NDJSON) {
        return reply.type(NDJSON).send(Readable.from(renderLines(codes)))
      }
      const date = new Date().toISOString().slice(0, 10)
      return reply
        .type(ZIP)
        .header('content-disposition', `attachment; filename="clearwake-qr-codes-${date}.zip"`)
        .send(renderZip(codes, format))
    },
  )
}

export default routes
