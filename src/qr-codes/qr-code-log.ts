import type { FastifyInstance } from 'fastify'
import { Counter } from 'prom-client'
import type { QrCodeResult } from './generate-qr-code.js'
import type { QrCodeRequest } from './qr-code-schemas.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The log entry of a QR code request, set once its input is valid */
    qrCodeLog: QrCodeLog | null
  }
  interface FastifyContextConfig {
    /** Log every request of this route as a QR code request, including invalid ones */
    isQrCodeCall?: true
  }
}

/** Fields of the log entry; `bytes` is the length of the link. */
interface QrCodeLog {
  calculatorType?: string | undefined
  vessel?: string | undefined
  imoNumber?: string | undefined
  bytes?: number
  version?: number
  expiresAt?: string
}

/** The log fields of a valid request. */
export function describeResult(request: QrCodeRequest, result: QrCodeResult): QrCodeLog {
  const entry = { ...describeBody(request), bytes: result.bytes }
  if (!result.ok) return entry
  const { version, link } = result.code
  return { ...entry, version, expiresAt: link.expiresAt.toISOString() }
}

/** The log fields of a request that may be invalid. */
function describeBody(body: unknown): QrCodeLog {
  const { calculatorType, vessel } = (body ?? {}) as Partial<QrCodeRequest>
  return {
    calculatorType: sanitizeText(calculatorType),
    vessel: sanitizeText(vessel?.name),
    imoNumber: sanitizeText(vessel?.imoNumber),
  }
}

const MAX_TEXT_LENGTH = 160

/** Control characters, line separators and direction marks, which affect terminals. */
const UNSAFE_CHARACTERS = /[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu

const sanitizeText = (value: unknown): string | undefined =>
  typeof value === 'string'
    ? value.slice(0, MAX_TEXT_LENGTH).replace(UNSAFE_CHARACTERS, '\ufffd')
    : undefined

const getOutcome = (statusCode: number): string =>
  statusCode < 400 ? 'created' : statusCode < 500 ? 'rejected' : 'failed'

/** Logs and counts every QR code request after its response. */
export function logQrCodeRequests(app: FastifyInstance): void {
  const codes = new Counter({
    name: 'clearwake_qr_codes_total',
    help: 'QR code requests, by outcome',
    labelNames: ['outcome'] as const,
    registers: [app.metrics],
  })
  app.decorateRequest('qrCodeLog', null)
  app.addHook('onResponse', async (request, reply) => {
    const { isQrCodeCall } = request.routeOptions.config
    const entry = request.qrCodeLog ?? (isQrCodeCall ? describeBody(request.body) : null)
    if (entry === null) return
    const outcome = getOutcome(reply.statusCode)
    codes.inc({ outcome })
    const responseTime = Math.round(reply.elapsedTime * 100) / 100
    request.log.info({ ...entry, outcome, responseTime }, 'qr code')
  })
}
