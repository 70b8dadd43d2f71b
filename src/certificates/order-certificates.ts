import type { FastifyInstance } from 'fastify'
import { findLatestAttempt } from '../orders/attempt.js'
import type { Order } from '../orders/order.js'
import { findOrderMessage, listMessages, type OrderMessage } from '../outbox/read-messages.js'
import type { CertificatePdfs } from './certificate-pdf.js'
import { findCertificate, findOrderCertificate } from './certificate-store.js'
import { isValid, toPublished, type Certificate, type CertificateContent } from './certificate.js'
import { CERTIFICATE_QUEUE } from './issue-certificates.js'

/** A certificate and whether it is still valid. */
export interface CertificateState {
  certificate: Certificate
  /** `null` while it is valid; `withdrawn` if its order was cancelled or refunded, for example */
  withdrawal: 'withdrawn' | 'replaced' | null
}

/** Certificates of orders: reads them and creates their PDFs. */
export function createOrderCertificates(
  { database, orders: store }: FastifyInstance,
  pdfs: CertificatePdfs,
) {
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

  return {
    /** Returns a sentence that explains why a certificate has no PDF; `null` if it has one. */
    findPdfProblem: (certificate: Certificate, isPrivate: boolean): Promise<string | null> =>
      pdfs.findContentProblem(selectContent(certificate, isPrivate)),

    /** Returns the certificate with a code; `null` if there is none. */
    find: async (code: string): Promise<CertificateState | null> =>
      addState(await findCertificate(database, code)),

    /** Returns the newest certificate of an order; `null` if it has none. */
    findByOrder: async ({ id }: Pick<Order, 'id'>): Promise<CertificateState | null> =>
      addState(await findOrderCertificate(database, id)),

    /** Returns a sentence that explains why a PDF cannot show a name; `null` if it can. */
    findNameProblem: (name: string): Promise<string | null> => pdfs.findProblem([name]),

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

    /** Creates the PDF of a certificate that has one. */
    createPdf: (certificate: Certificate, isPrivate: boolean): Promise<Buffer> =>
      pdfs.create(certificate, selectContent(certificate, isPrivate)),
  }
}

export type OrderCertificates = ReturnType<typeof createOrderCertificates>
