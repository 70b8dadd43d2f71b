import { formatRetirementDate } from '../orders/labels.js'
import { extname } from 'node:path'
import { type Certificate, type CertificateContent, getCertificateNumber } from './certificate.js'
import type { CertificateFonts } from './certificate-fonts.js'
import { drawInWorker } from './draw-in-worker.js'

/** Text in a certificate that its PDF cannot show. */
interface UnprintableText {
  text: string
  /** Scripts that no font supports */
  scripts: string[]
}

export interface CertificatePdfs {
  /** Opens the fonts, unless they are already open. Throws ConfigError. */
  openFonts(): Promise<unknown>
  /** Names the scripts of the characters that no font contains. */
  findMissingScripts(text: string): Promise<string[]>
  /** Finds text that the PDF cannot show; `null` if there is none. */
  findUnprintable(content: CertificateContent): Promise<UnprintableText | null>
  /** Creates the PDF of a certificate with the given content, all of which must be printable. */
  create(certificate: Certificate, content: CertificateContent): Promise<Buffer>
}

interface Options {
  brandName: string
  /** BRAND_LOGO */
  logoPath: string | undefined
  /** CERTIFICATE_FONT */
  fontPath: string | undefined
  getUrl: (code: string) => string
  formatDate: (timestamp: string) => string
}

/** About 50 kB each */
const MAX_CACHED = 100

/** PDFs can contain only PNG and JPEG logos. */
const isPrintableLogo = (path: string): boolean =>
  /^\.(?:png|jpe?g)$/.test(extname(path).toLowerCase())

const listTexts = (content: CertificateContent, brandName: string): string[] =>
  [
    brandName,
    content.beneficiary,
    content.vesselName,
    content.trip,
    content.portfolioName,
    ...content.projects.flatMap(({ name, country }) => [name, country]),
    content.retirement?.registry ?? null,
    content.retirement?.reference ?? null,
    content.retirement?.standard ?? null,
    content.retirement?.vintage ?? null,
    content.provider?.name ?? null,
    content.provider?.orderId ?? null,
    ...(content.provider?.serialNumbers ?? []),
  ].filter((text) => text !== null)

/** Describes why there is no PDF, for a guest. */
export const describeUnprintable = ({ text, scripts }: UnprintableText): string =>
  `The PDF cannot show “${text}”, because there is no font for ${scripts.join(', ')}.`

/** Creates PDFs and caches the latest ones. The fonts are opened when they are first needed. */
export function createCertificatePdfs(options: Options): CertificatePdfs {
  const { brandName, logoPath, fontPath, getUrl, formatDate } = options
  let opening: Promise<CertificateFonts> | null = null
  const cache = new Map<string, Promise<Buffer>>()

  const openFonts = (): Promise<CertificateFonts> =>
    (opening ??= import('./certificate-fonts.js').then(({ openCertificateFonts }) =>
      openCertificateFonts(fontPath),
    ))

  function draw(certificate: Certificate, content: CertificateContent): Promise<Buffer> {
    const sheet = {
      content,
      number: getCertificateNumber(certificate),
      issuedAt: certificate.issuedAt,
      issuedOn: formatDate(certificate.issuedAt),
      orderedOn: content.orderedAt === undefined ? null : formatDate(content.orderedAt),
      retiredOn: content.retirement ? formatRetirementDate(content.retirement, formatDate) : null,
      url: getUrl(certificate.code),
      brandName,
      logoPath: logoPath !== undefined && isPrintableLogo(logoPath) ? logoPath : null,
    }
    return drawInWorker({ sheet, fontPath })
  }

  return {
    openFonts,
    findMissingScripts: async (text) => (await openFonts()).findMissingScripts(text),
    async findUnprintable(content) {
      const fonts = await openFonts()
      for (const text of listTexts(content, brandName)) {
        const scripts = fonts.findMissingScripts(text)
        if (scripts.length > 0) return { text, scripts }
      }
      return null
    },
    async create(certificate, content) {
      const key = certificate.code + JSON.stringify(content)
      const known = cache.get(key)
      const pdf = known ?? draw(certificate, content)
      cache.delete(key)
      cache.set(key, pdf)
      if (cache.size > MAX_CACHED) cache.delete(cache.keys().next().value ?? '')
      pdf.catch(() => cache.delete(key))
      return pdf
    },
  }
}
