import type { FastifyPluginAsync, FastifyReply } from 'fastify'
import { fitLine, renderPng } from '../calculator/preview-image.js'
import { getNumberFormatter, type PageFormat } from '../core/formatting/number-formatter.js'
import { createQrMatrix, renderSvg, toSvgDataUrl } from '../core/html/qr-image.js'
import { getRequestNumbers } from '../core/http/locale.js'
import { Problem } from '../core/http/problem.js'
import { arePortfoliosPublic, getProjectPath } from '../provider/paths.js'
import { createDrawing, renderDrawingSvg } from './certificate-drawing.js'
import { getCertificateNumber, toPublished, type Certificate } from './certificate.js'
import { describeCertificate, describeClaim } from './describe-certificate.js'
import type { CertificateState } from './order-certificates.js'

/** Quiet zone, in modules (ISO/IEC 18004, section 9.1) */
const QR_MARGIN = 4
const QR_SIZE = 240

/** The public page of a valid certificate: only what the guest chose to publish. */
function buildCertificateView(
  certificate: Certificate,
  url: string,
  { hasProjectPages, ...format }: PageFormat & { hasProjectPages: boolean },
) {
  const { content } = certificate
  const { portfolioId } = content
  const view = describeCertificate(certificate, toPublished(content), {
    numbers: format.numbers,
    formatDate: format.time,
  })
  return {
    ...view,
    projects: view.projects.map(({ id, ...project }) => ({
      ...project,
      path:
        hasProjectPages && portfolioId != null && id !== undefined
          ? getProjectPath(portfolioId, { id })
          : null,
    })),
    summary: `${[view.beneficiary, view.claim, view.mass, view.ending].filter(Boolean).join(' ')}. The trip’s own emissions are unchanged.`,
    drawing: renderDrawingSvg(view.drawing),
    url,
    qrCode: toSvgDataUrl(renderSvg(createQrMatrix(url, 'M'), QR_SIZE, QR_MARGIN)),
  }
}

/** How long browsers may still show a certificate after it was withdrawn. */
const MAX_AGE_SECONDS = 60

/** Throws a Problem (404), the same for every code and token without a certificate. */
function requireCertificate(state: CertificateState | null): CertificateState {
  if (state !== null) return state
  throw new Problem(
    404,
    'There is no certificate at this address. Check that the address is complete, scan the code again, or ask whoever gave it to you.',
    { heading: 'We cannot find this certificate' },
  )
}

/** Headers of a certificate that anyone may see; search engines may list published ones. */
function setPublicHeaders(reply: FastifyReply, { content }: Certificate): void {
  reply.header('cache-control', `private, max-age=${MAX_AGE_SECONDS}`)
  if (content.isPublic) reply.removeHeader('x-robots-tag')
}

/** Responds that a certificate is no longer valid. */
function showWithdrawn(reply: FastifyReply, { certificate, withdrawal }: CertificateState) {
  return reply.code(410).renderView(
    { page: 'certificates/certificate-withdrawn' },
    {
      number: getCertificateNumber(certificate),
      issuedOn: reply.server.certificates.formatDate(certificate.issuedAt),
      isReplaced: withdrawal === 'replaced',
      drawing: renderDrawingSvg(createDrawing(certificate.content.projects)),
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
  const { certificates } = reply.server
  const state = requireCertificate(found)
  if (state.withdrawal !== null) return showWithdrawn(reply, state)
  const { certificate } = state
  const problem = await certificates.findPdfProblem(certificate, isPrivate)
  if (problem !== null) throw new Problem(422, problem)
  const pdf = await certificates.createPdf(certificate, isPrivate)
  if (!isPrivate) setPublicHeaders(reply, certificate)
  const fileName = `certificate-${getCertificateNumber(certificate)}.pdf`
  return reply
    .type('application/pdf')
    .header('content-disposition', `inline; filename="${fileName}"`)
    .send(pdf)
}

interface CertificateRoute {
  Params: { code: string }
}

/** The public pages of certificates, and their PDFs. Search engines may list published ones. */
const pages: FastifyPluginAsync = async (app) => {
  const { certificates } = app
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex',
    })
    done()
  })
  const rateLimit = { max: app.config.ORDER_RATE_LIMIT_PER_MINUTE, timeWindow: '1 minute' }

  app.get<CertificateRoute>('/c/:code', async (request, reply) => {
    const state = requireCertificate(await certificates.find(request.params.code))
    const { certificate, withdrawal } = state
    if (withdrawal !== null) return showWithdrawn(reply, state)
    const format = {
      numbers: getRequestNumbers(request),
      time: certificates.formatDate,
      hasProjectPages: arePortfoliosPublic(app.config),
    }
    const view = buildCertificateView(certificate, certificates.getUrl(certificate.code), format)
    const pdfProblem = await certificates.findPdfProblem(certificate, false)
    setPublicHeaders(reply, certificate)
    return reply.renderView(
      { page: 'certificates/certificate' },
      {
        certificate: view,
        image: `${view.url}/preview.png`,
        pdf: pdfProblem === null ? `/c/${certificate.code}.pdf` : null,
        pdfProblem,
      },
    )
  })

  app.get<CertificateRoute>(
    '/c/:code(^[\\w-]+).pdf',
    { config: { rateLimit } },
    async ({ params }, reply) =>
      sendCertificatePdf(reply, await certificates.find(params.code), false),
  )

  /** The image that apps show next to a shared link (Open Graph); it shows no names. */
  app.get<CertificateRoute>(
    '/c/:code/preview.png',
    { config: { rateLimit } },
    async ({ params }, reply) => {
      const state = requireCertificate(await certificates.find(params.code))
      if (state.withdrawal !== null) return showWithdrawn(reply, state)
      const { certificate } = state
      const { content } = certificate
      const image = await app.view('certificates/preview-image', {
        ...describeClaim(content, getNumberFormatter('en-GB')),
        drawing: renderDrawingSvg(createDrawing(content.projects)),
        brand: fitLine(app.brand.name, { width: 1056, largest: 34, smallest: 22 }),
      })
      setPublicHeaders(reply, certificate)
      return reply.type('image/png').send(await renderPng(image))
    },
  )
}

export default pages
