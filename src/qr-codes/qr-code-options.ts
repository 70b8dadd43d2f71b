import type { FastifyRequest } from 'fastify'
import type { QrCode } from './generate-qr-code.js'
import type { PrefillLinks } from './prefill-link.js'

export interface QrCodeOptions {
  links: PrefillLinks
  /** Called with every code that a user or an API key generates */
  onGenerated: (code: QrCode) => void
}

/** Of the routes */
export interface QrCodeRouteOptions extends QrCodeOptions {
  /** Takes codes from the client's limit, in addition to one per request. Throws a Problem (429). */
  countCodes: (request: FastifyRequest, count: number) => Promise<void>
}
