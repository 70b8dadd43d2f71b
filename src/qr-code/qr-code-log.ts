import type { FastifyInstance } from 'fastify'
import { Counter } from 'prom-client'
import type { GeneratedQrCode } from './generate-qr-code.js'
import type { QrCodeRequest } from './qr-code-request.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** What the log entry of a QR code call tells, once its input is known to be sound */
    qrCodeLog: QrCodeLog | null
  }
  interface FastifyContextConfig {
    /** Every request asks for a code, sound or not */
    isQrCodeCall?: true
  }
}

/** One call for a code. Sizes are bytes of the link. */
export interface QrCodeLog {
  calculatorType?: string | undefined
  vessel?: string | undefined
  imoNumber?: string | undefined
  bytes?: number
  version?: number
  expiresAt?: string
}

/** What can be told of a call before its input is known to be sound. */
function describeAsked(body: unknown): QrCodeLog {
  const { calculatorType, vessel } = (body ?? {}) as Partial<QrCodeRequest>
  return {
    calculatorType: excerpt(calculatorType),
    vessel: excerpt(vessel?.name),
    imoNumber: excerpt(vessel?.imoNumber),
  }
}

/** What a terminal that shows the log would act on, or break a line at. */
const NOT_TO_SHOW = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu

/** Unchecked input must neither fill the log nor do anything where it is read. */
const excerpt = (value: unknown): string | undefined =>
  typeof value === 'string' ? value.slice(0, 160).replace(NOT_TO_SHOW, '\ufffd') : undefined

/** What can be told of a call once a code was made or refused. */
export function describeGeneratedCode(asked: QrCodeRequest, generated: GeneratedQrCode): QrCodeLog {
  const log = { ...describeAsked(asked), bytes: generated.bytes }
  if (!generated.ok) return log
  const { version, link } = generated.code
  return { ...log, version, expiresAt: link.expiresAt.toISOString() }
}

const outcomeOf = (status: number): string =>
  status < 400 ? 'made' : status < 500 ? 'refused' : 'failed'

/** Writes an entry for every call, refused ones too, once its answer is out. */
export function createQrCodeLog(app: FastifyInstance): void {
  const codes = new Counter({
    name: 'clearwake_qr_codes_total',
    help: 'QR codes asked for, by outcome',
    labelNames: ['outcome'] as const,
    registers: [app.metrics],
  })
  app.decorateRequest('qrCodeLog', null)
  app.addHook('onResponse', async (request, reply) => {
    const { isQrCodeCall } = request.routeOptions.config
    const log = request.qrCodeLog ?? (isQrCodeCall ? describeAsked(request.body) : null)
    if (log === null) return
    const outcome = outcomeOf(reply.statusCode)
    codes.inc({ outcome })
    const milliseconds = Math.round(reply.elapsedTime * 100) / 100
    request.log.info({ ...log, outcome, milliseconds }, 'qr code')
  })
}
