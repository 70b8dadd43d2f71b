import { createQrMatrix, renderSvg, toSvgDataUrl } from '../../qr-code/qr-image.js'
import { formatMass, type PageFormat } from '../order-form-view.js'
import { getCertificateNumber, toPublished, type Certificate } from './certificate.js'

/** Quiet zone, in modules (ISO/IEC 18004, section 9.1) */
const QR_MARGIN = 4
const QR_SIZE = 240

/** The public page of a valid certificate: only what the guest chose to publish. */
export function buildCertificateView(
  certificate: Certificate,
  { url, format }: { url: string; format: PageFormat },
) {
  const content = toPublished(certificate.content)
  const { provider } = content
  return {
    ...content,
    number: getCertificateNumber(certificate),
    mass: `${formatMass(content.co2eKg, format.numbers)} CO₂e`,
    issuedOn: format.time(certificate.issuedAt),
    provider: provider && {
      name: provider.name,
      orderId: provider.orderId,
      serialNumbers: provider.serialNumbers,
      links: [
        { href: provider.certificateUrl, text: 'Provider’s certificate' },
        { href: provider.registryUrl, text: 'Entry in the registry' },
      ].filter(({ href }) => href !== null),
    },
    url,
    qrCode: toSvgDataUrl(renderSvg(createQrMatrix(url, 'M'), QR_SIZE, QR_MARGIN)),
  }
}
