import { readFileSync } from 'node:fs'
import fp from 'fastify-plugin'
import {
  optional,
  type ConfigPart,
  type ConfigRule,
  type Values,
} from '../core/config/config-part.js'
import type { Order } from '../orders/order.js'
import certificatePages from './certificate-pages.js'
import { createCertificatePdfs, type CertificatePdfs } from './certificate-pdf.js'
import {
  buildCertificateSection,
  describeCertificateChanges,
  loadCertificateChanges,
  type CertificateChanges,
} from './certificate-section.js'
import { eraseBeneficiary, findCertificate, findOrdersByNumber } from './certificate-store.js'
import { createCertificateIssuer, type OnIssued } from './issue-certificates.js'
import { createOrderCertificates, type OrderCertificates } from './order-certificates.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  CERTIFICATE_FONT: optional('TTF or OTF file for certificates, for scripts that their fonts lack'),
}

/** The first bytes of TrueType and OpenType files. Collections and web fonts start differently. */
const FONT_SIGNATURES = ['00010000', '4f54544f', '74727565']

function isFontFile(path: string): boolean {
  try {
    return FONT_SIGNATURES.includes(readFileSync(path).subarray(0, 4).toString('hex'))
  } catch {
    return false
  }
}

const rules: readonly ConfigRule[] = [
  ['CERTIFICATE_FONT', isFontFile, 'must be the path of a TTF or OTF file'],
]

/** Certificates. */
export const certificateConfig = { variables, rules } satisfies ConfigPart

declare module 'fastify' {
  interface FastifyInstance {
    /** Certificates of guest orders */
    certificates: Certificates
  }
}

interface Certificates extends OrderCertificates, Pick<CertificatePdfs, 'getUrl' | 'formatDate'> {
  onIssued: (listener: OnIssued) => void
  /** Loads what changes of these orders do to their certificates, once for the same array */
  loadChanges: (orders: readonly Order[]) => Promise<CertificateChanges>
}

/** Issues certificates. Throws ConfigError if CERTIFICATE_FONT cannot be read. */
export default fp(
  async (app) => {
    const { database, orders: store } = app
    const pdfs = createCertificatePdfs(app)
    if (app.config.CERTIFICATE_FONT !== undefined) await pdfs.openFonts()
    const certificates = createOrderCertificates(app, pdfs)
    const listeners: OnIssued[] = []
    const loadedChanges = new WeakMap<readonly Order[], Promise<CertificateChanges>>()
    function loadChanges(orders: readonly Order[]): Promise<CertificateChanges> {
      const loaded =
        loadedChanges.get(orders) ?? loadCertificateChanges(certificates, store, orders)
      loadedChanges.set(orders, loaded)
      return loaded
    }
    app.decorate('certificates', {
      ...certificates,
      loadChanges,
      getUrl: pdfs.getUrl,
      formatDate: pdfs.formatDate,
      onIssued: (listener) => void listeners.push(listener),
    })
    app.orderFilters.addReference(async (reference) => {
      const certificate = await findCertificate(database, reference)
      const byNumber = await findOrdersByNumber(database, reference)
      return [...(certificate === null ? [] : [certificate.orderId]), ...byNumber].map(Number)
    })
    app.orderPage.addSection({
      place: 'retirement',
      template: '/certificates/_certificate',
      build: (data) => buildCertificateSection(certificates, data),
    })
    app.orderPage.addConsequences(async (orders) => {
      const loaded = await loadChanges(orders)
      return (changes, options) => describeCertificateChanges(loaded, changes, options)
    })
    const issuer = createCertificateIssuer(app, async (tx, issued) => {
      for (const listener of listeners) await listener(tx, issued)
    })
    await app.register(certificatePages)
    app.events.addConsumer('certificates', issuer.consume, 'Certificate')
    app.outbox.addSender(issuer.sender)
    app.eraser.add({ eraseFormerCustomer: (tx, orderId) => eraseBeneficiary(tx, orderId) })
  },
  { name: 'certificates', dependencies: ['brand', 'order-pages', 'events', 'erasure', 'provider'] },
)
