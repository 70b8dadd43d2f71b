import { extname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { getNumberFormatter } from '../core/formatting/number-formatter.js'
import { startFunction, toWorkerError } from '../database/start-worker.js'
import { createKeyedMutex } from '../database/state-store/state-store.js'
import type { CertificateFonts } from './certificate-fonts.js'
import type { Certificate, CertificateContent } from './certificate.js'
import { describeCertificate } from './describe-certificate.js'
import type { DrawTask } from './draw-certificate.js'

/** About 50 kB each */
const MAX_CACHED = 100

/** PDFs can contain only PNG and JPEG logos. */
const isPrintableLogo = (path: string): boolean =>
  /^\.(?:png|jpe?g)$/.test(extname(path).toLowerCase())

function listTexts(content: CertificateContent, brandName: string): string[] {
  const { beneficiary, vesselName, trip, portfolioName, projects, retirement, provider } = content
  return [
    ...[brandName, beneficiary, vesselName, trip, portfolioName],
    ...projects.flatMap(({ name, country, kind, standard, vintage, registry }) => [
      ...[name, country, kind, standard, vintage, registry],
    ]),
    ...[retirement?.registry, retirement?.reference, retirement?.standard, retirement?.vintage],
    ...[provider?.name, provider?.orderId, ...(provider?.serialNumbers ?? [])],
  ].filter((text) => text != null)
}

/** One at a time, because drawing keeps a CPU core busy. */
const inSequence = createKeyedMutex()

/**
 * Draws a PDF in a worker thread, because shaping its text in the main thread would delay all
 * requests.
 *
 * @param module path from `src` without extension
 * @param name the function that draws `task`
 */
export const drawInWorker = (module: string, name: string, task: object): Promise<Buffer> =>
  inSequence(
    'certificate',
    () =>
      new Promise((resolve, reject) => {
        const worker = startFunction(module, name, task)
        worker.unref()
        worker.once('message', (pdf: Uint8Array) => resolve(Buffer.from(pdf)))
        worker.once('error', (error) => reject(toWorkerError(error)))
        // This has no effect if the certificate has already arrived.
        worker.once('exit', () => reject(new Error('the worker exited without a certificate')))
      }),
  )

/** Creates PDFs and caches the latest ones. The fonts are opened when they are first needed. */
export function createCertificatePdfs({ brand, config, publicBaseUrl }: FastifyInstance) {
  const { BRAND_LOGO: logoPath, CERTIFICATE_FONT: fontPath, TIME_ZONE: timeZone } = config
  const dates = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone })
  const formatDate = (timestamp: string): string => dates.format(new Date(timestamp))
  const getUrl = (code: string): string => `${publicBaseUrl()}/c/${code}`
  const cache = new Map<string, Promise<Buffer>>()
  let opening: Promise<CertificateFonts> | null = null

  /** Opens the fonts, unless they are already open. Throws ConfigError. */
  const openFonts = (): Promise<CertificateFonts> =>
    (opening ??= import('./certificate-fonts.js').then(({ openCertificateFonts }) =>
      openCertificateFonts(fontPath),
    ))

  function draw(certificate: Certificate, content: CertificateContent): Promise<Buffer> {
    const sheet = {
      view: describeCertificate(certificate, content, {
        numbers: getNumberFormatter('en-GB'),
        formatDate,
      }),
      issuedAt: certificate.issuedAt,
      url: getUrl(certificate.code),
      brandName: brand.name,
      logoPath: logoPath !== undefined && isPrintableLogo(logoPath) ? logoPath : null,
    }
    const task: DrawTask = { sheet, fontPath }
    return drawInWorker('certificates/draw-certificate', 'drawCertificate', task)
  }

  /** Returns a sentence that explains why a PDF cannot show texts; `null` if it can. */
  async function findProblem(texts: readonly string[]): Promise<string | null> {
    const fonts = await openFonts()
    for (const text of texts) {
      const scripts = fonts.findMissingScripts(text)
      if (scripts.length > 0) {
        return `The PDF cannot show “${text}”, because there is no font for ${scripts.join(', ')}.`
      }
    }
    return null
  }

  return {
    formatDate,
    /** The public page of a certificate */
    getUrl,
    openFonts,
    findProblem,
    findContentProblem: (content: CertificateContent) =>
      findProblem(listTexts(content, brand.name)),
    /** Creates the PDF of a certificate with the given content, all of which must be printable. */
    async create(certificate: Certificate, content: CertificateContent): Promise<Buffer> {
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

export type CertificatePdfs = ReturnType<typeof createCertificatePdfs>
