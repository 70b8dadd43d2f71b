import type { Database } from '../database/database.js'
import { findLatestAttempt } from '../orders/attempt.js'
import { listMessages } from '../events/outbox.js'
import type { OrderStore } from '../orders/store/order-store.js'
import type { Order } from '../orders/order.js'
import { findOrderMessage, type OrderMessage } from '../orders/order-messages.js'
import {
  getCertificateNumber,
  isValid,
  toPublished,
  type Certificate,
  type CertificateContent,
} from './certificate.js'
import { describeUnprintable, type CertificatePdfs } from './certificate-pdf.js'
import { findCertificate, findOrderCertificate } from './certificate-store.js'
import { CERTIFICATE_QUEUE } from './issue-certificates.js'

/** A certificate and whether it is still valid. */
export interface CertificateState {
  certificate: Certificate
  /** `null` while it is valid; `withdrawn` if its order was cancelled or refunded, for example */
  withdrawal: 'withdrawn' | 'replaced' | null
}

/** The PDF of a certificate, or why there is none. */
type PdfResult =
  { outcome: 'created'; pdf: Buffer; fileName: string } | { outcome: 'unprintable'; reason: string }

interface Options {
  database: Database
  store: OrderStore
  pdfs: CertificatePdfs
}

/** Certificates of orders: reads them and creates their PDFs. */
export function createCertificates({ database, store, pdfs }: Options) {
  /** Whether a certificate is valid for its order. */
  async function isCurrent(certificate: Certificate): Promise<boolean> {
    const { orderId } = certificate
    const attempt = findLatestAttempt((await store.getHistory(orderId)) ?? [])
    const order = await store.get(orderId)
    return order !== null && isValid(certificate, order, attempt)
  }

  async function addState(certificate: Certificate | null): Promise<CertificateState | null> {
    if (certificate === null) return null
    const newest = await findOrderCertificate(database, certificate.orderId)
    const withdrawal =
      newest?.code !== certificate.code
        ? 'replaced'
        : (await isCurrent(certificate))
          ? null
          : 'withdrawn'
    return { certificate, withdrawal }
  }

  /** @param isPrivate whether the PDF also shows unpublished content */
  const selectContent = ({ content }: Certificate, isPrivate: boolean): CertificateContent =>
    isPrivate ? content : toPublished(content)

  async function findPdfProblem(certificate: Certificate, isPrivate: boolean) {
    const unprintable = await pdfs.findUnprintable(selectContent(certificate, isPrivate))
    return unprintable && describeUnprintable(unprintable)
  }

  return {
    /** Returns a sentence that explains why a certificate has no PDF; `null` if it has one. */
    findPdfProblem,

    /** Returns the certificate with a code; `null` if there is none. */
    find: async (code: string): Promise<CertificateState | null> =>
      addState(await findCertificate(database, code)),

    /** Returns the newest certificate of an order; `null` if it has none. */
    findByOrder: async ({ id }: Pick<Order, 'id'>): Promise<CertificateState | null> =>
      addState(await findOrderCertificate(database, id)),

    /** Returns a sentence that explains why a PDF cannot show a name; `null` if it can. */
    findNameProblem: async (name: string): Promise<string | null> => {
      const scripts = await pdfs.findMissingScripts(name)
      return scripts.length === 0 ? null : describeUnprintable({ text: name, scripts })
    },

    /** Returns the message that issues the certificate of an order; `null` if there is none. */
    findMessage: ({ id }: Pick<Order, 'id'>): Promise<OrderMessage | null> =>
      findOrderMessage(database, id, CERTIFICATE_QUEUE),

    /** Returns orders whose certificate could not be issued, of the latest ten failures. */
    async listFailed(): Promise<Order[]> {
      const options = { limit: 10, offset: 0, states: ['failed'] } as const
      const messages = await listMessages(database, CERTIFICATE_QUEUE, options)
      const ids = [...new Set(messages.flatMap(({ orderId }) => orderId ?? []))]
      const orders = await Promise.all(
        ids.map(async (id) => {
          const latest = await findOrderMessage(database, id, CERTIFICATE_QUEUE)
          return latest?.state === 'failed' ? store.get(id) : null
        }),
      )
      return orders.filter((order) => order !== null).filter(({ status }) => status === 'fulfilled')
    },

    async createPdf(certificate: Certificate, isPrivate: boolean): Promise<PdfResult> {
      const reason = await findPdfProblem(certificate, isPrivate)
      if (reason !== null) return { outcome: 'unprintable', reason }
      const pdf = await pdfs.create(certificate, selectContent(certificate, isPrivate))
      return {
        outcome: 'created',
        pdf,
        fileName: `certificate-${getCertificateNumber(certificate)}.pdf`,
      }
    },
  }
}

export type IssuedCertificates = ReturnType<typeof createCertificates>
