import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify'
import { formatMoney } from '../core/formatting/money-formatter.js'
import { getNumberFormatter } from '../core/formatting/number-formatter.js'
import { getLocale } from '../core/http/locale.js'
import { Problem } from '../core/http/problem.js'
import type { CertificateState } from './issued-certificates.js'
import { getCertificateNumber, type Certificate } from './certificate.js'
import { buildCertificateView } from './certificate-view.js'

interface CertificateRoute {
  Params: { code: string }
}

/** How long browsers may still show a certificate after it was withdrawn. */
const MAX_AGE_SECONDS = 60

/** Throws a Problem (404), the same for every code and token without a certificate. */
function requireCertificate<T>(certificate: T | null): T {
  if (certificate === null) {
    throw new Problem(
      404,
      'There is no certificate at this address. Check that the address is complete, or scan the code again.',
    )
  }
  return certificate
}

/** The public pages of certificates, and their PDFs. Search engines may list published ones. */
const pages: FastifyPluginAsync = async (app) => {
  const { certificates, orderLinks } = app
  const { getUrl, formatDate } = certificates
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('referrer-policy', 'no-referrer')
    done()
  })
  const rateLimit = { max: app.config.ORDER_RATE_LIMIT_PER_MINUTE, timeWindow: '1 minute' }

  const getFormat = ({ headers }: FastifyRequest) => {
    const locale = getLocale(headers['accept-language'])
    return {
      numbers: getNumberFormatter(locale),
      money: formatMoney,
      time: formatDate,
    }
  }

  function setPublicHeaders(reply: FastifyReply, { content }: Certificate): void {
    reply.header('cache-control', `private, max-age=${MAX_AGE_SECONDS}`)
    if (content.isPublic) reply.removeHeader('x-robots-tag')
  }

  function showWithdrawn(reply: FastifyReply, { certificate, withdrawal }: CertificateState) {
    return reply.code(410).renderView(
      { page: 'ordering/certificate-withdrawn' },
      {
        number: getCertificateNumber(certificate),
        issuedOn: formatDate(certificate.issuedAt),
        isReplaced: withdrawal === 'replaced',
      },
    )
  }

  async function sendPdf(reply: FastifyReply, certificate: Certificate, isPrivate: boolean) {
    const result = await certificates.createPdf(certificate, isPrivate)
    if (result.outcome === 'unprintable') throw new Problem(422, result.reason)
    if (!isPrivate) setPublicHeaders(reply, certificate)
    return reply
      .type('application/pdf')
      .header('content-disposition', `inline; filename="${result.fileName}"`)
      .send(result.pdf)
  }

  app.get<CertificateRoute>('/c/:code', async (request, reply) => {
    const state = requireCertificate(await certificates.find(request.params.code))
    const { certificate, withdrawal } = state
    if (withdrawal !== null) return showWithdrawn(reply, state)
    const url = getUrl(certificate.code)
    const view = buildCertificateView(certificate, { url, format: getFormat(request) })
    const path = `/c/${certificate.code}`
    const pdfProblem = await certificates.findPdfProblem(certificate, false)
    setPublicHeaders(reply, certificate)
    return reply.renderView(
      { page: 'ordering/certificate' },
      { certificate: view, pdf: pdfProblem === null ? `${path}.pdf` : null, pdfProblem },
    )
  })

  app.get<CertificateRoute>(
    '/c/:code(^[\\w-]+).pdf',
    { config: { rateLimit } },
    async (request, reply) => {
      const state = requireCertificate(await certificates.find(request.params.code))
      return state.withdrawal === null
        ? sendPdf(reply, state.certificate, false)
        : showWithdrawn(reply, state)
    },
  )

  app.get<{ Params: { token: string } }>(
    '/o/:token/certificate.pdf',
    { config: { rateLimit } },
    async ({ params }, reply) => {
      const id = await orderLinks.find(params.token)
      const state = requireCertificate(id === null ? null : await certificates.findByOrder({ id }))
      return state.withdrawal === null
        ? sendPdf(reply, state.certificate, true)
        : showWithdrawn(reply, state)
    },
  )
}

export default pages
