import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { formatMoney } from '../core/formatting/money-formatter.js'
import { getNumberFormatter } from '../core/formatting/number-formatter.js'
import { getLocale } from '../core/http/locale.js'
import {
  requireCertificate,
  sendCertificatePdf,
  setPublicHeaders,
  showWithdrawn,
} from './certificate-responses.js'
import { buildCertificateView } from './certificate-view.js'

interface CertificateRoute {
  Params: { code: string }
}

/** The public pages of certificates, and their PDFs. Search engines may list published ones. */
const pages: FastifyPluginAsync = async (app) => {
  const { certificates } = app
  const { getUrl, formatDate } = certificates
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    })
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
      { page: 'certificates/certificate' },
      { certificate: view, pdf: pdfProblem === null ? `${path}.pdf` : null, pdfProblem },
    )
  })

  app.get<CertificateRoute>(
    '/c/:code(^[\\w-]+).pdf',
    { config: { rateLimit } },
    async ({ params }, reply) =>
      sendCertificatePdf(reply, await certificates.find(params.code), false),
  )
}

export default pages
