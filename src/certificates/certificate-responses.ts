import type { FastifyReply } from 'fastify'
import { Problem } from '../core/http/problem.js'
import { getCertificateNumber, type Certificate } from './certificate.js'
import type { CertificateState } from './issued-certificates.js'

/** How long browsers may still show a certificate after it was withdrawn. */
const MAX_AGE_SECONDS = 60

/** Throws a Problem (404), the same for every code and token without a certificate. */
export function requireCertificate<T>(certificate: T | null): T {
  if (certificate === null) {
    throw new Problem(
      404,
      'There is no certificate at this address. Check that the address is complete, or scan the code again.',
    )
  }
  return certificate
}

/** Headers of a certificate that anyone may see; search engines may list published ones. */
export function setPublicHeaders(reply: FastifyReply, { content }: Certificate): void {
  reply.header('cache-control', `private, max-age=${MAX_AGE_SECONDS}`)
  if (content.isPublic) reply.removeHeader('x-robots-tag')
}

/** Responds that a certificate is no longer valid. */
export function showWithdrawn(reply: FastifyReply, { certificate, withdrawal }: CertificateState) {
  return reply.code(410).renderView(
    { page: 'certificates/certificate-withdrawn' },
    {
      number: getCertificateNumber(certificate),
      issuedOn: reply.server.certificates.formatDate(certificate.issuedAt),
      isReplaced: withdrawal === 'replaced',
    },
  )
}

/**
 * Responds with the PDF of a certificate, or with 410 if it is no longer valid. Throws a Problem:
 * 404 without a certificate, 422 if no font can show it.
 *
 * @param isPrivate whether the PDF also shows unpublished content
 */
export async function sendCertificatePdf(
  reply: FastifyReply,
  found: CertificateState | null,
  isPrivate: boolean,
) {
  const state = requireCertificate(found)
  if (state.withdrawal !== null) return showWithdrawn(reply, state)
  const result = await reply.server.certificates.createPdf(state.certificate, isPrivate)
  if (result.outcome === 'unprintable') throw new Problem(422, result.reason)
  if (!isPrivate) setPublicHeaders(reply, state.certificate)
  return reply
    .type('application/pdf')
    .header('content-disposition', `inline; filename="${result.fileName}"`)
    .send(result.pdf)
}
