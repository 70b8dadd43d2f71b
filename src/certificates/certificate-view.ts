import { formatRetirementDate } from '../orders/labels.js'
import { createQrMatrix, renderSvg, toSvgDataUrl } from '../core/html/qr-image.js'
import { withUnit } from '../core/formatting/number-formatter.js'
import { formatRoundedMass, type PageFormat } from '../core/formatting/mass-formatter.js'
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
  const { provider, retirement = null } = content
  return {
    ...content,
    number: getCertificateNumber(certificate),
    mass: `${formatRoundedMass(content.co2eKg, format.numbers)} of CO₂e`,
    exactMass: `${withUnit(format.numbers.exact(content.co2eKg), 'kg')} of CO₂e`,
    orderedOn: content.orderedAt === undefined ? null : format.time(content.orderedAt),
    issuedOn: format.time(certificate.issuedAt),
    retirement: retirement && {
      ...retirement,
      retiredOn: formatRetirementDate(retirement, format.time),
    },
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
