import type { Database } from '../../database/database.js'
import { FULFILMENT_QUEUE } from '../../fulfilment/auto-fulfilment.js'
import { getCertificateNumber } from '../../ordering/certificate/certificate.js'
import type { Certificates, CertificateState } from '../../ordering/certificate/certificates.js'
import type { Order } from '../../orders/order.js'
import { findOrderMessage, type OrderMessage } from '../../outbox/order-messages.js'
import type { Formatters } from '../formatters.js'

/** What the service does by itself with the order of a guest. */
export interface GuestOrderData {
  /** Its automatic placement; `null` if there is none */
  placement: OrderMessage | null
  /** The issue of its certificate; `null` if it is not due */
  issue: OrderMessage | null
  certificate: CertificateState | null
  pdfProblem: string | null
}

/** Reads what the service does with the order of a guest; `null` for other orders. */
export async function loadGuestOrderData(
  database: Database,
  certificates: Certificates,
  order: Order,
): Promise<GuestOrderData | null> {
  if (order.checkout === null) return null
  const state = await certificates.findByOrder(order)
  return {
    placement: await findOrderMessage(database, order.id, FULFILMENT_QUEUE),
    issue: await certificates.findMessage(order),
    certificate: state,
    pdfProblem: state && (await certificates.findPdfProblem(state.certificate, true)),
  }
}

const WITHDRAWALS = {
  withdrawn: 'Withdrawn, because the order is not fulfilled.',
  replaced: 'Replaced by another certificate.',
}

/** The certificate of an order, or when there will be one; `null` if there will be none. */
export function buildCertificateSection(
  { status }: Order,
  { certificate: state, issue, pdfProblem }: GuestOrderData,
  format: Formatters,
) {
  if (state === null) {
    if (status !== 'fulfilled') return null
    if (issue === null) return null
    const note =
      issue.state === 'failed'
        ? `It could not be issued: ${issue.detail ?? ''}`
        : 'It is issued within a minute.'
    return { note, link: null, pdfProblem: null }
  }
  const { certificate, withdrawal } = state
  return {
    note: withdrawal && WITHDRAWALS[withdrawal],
    link: {
      number: getCertificateNumber(certificate),
      path: `/c/${certificate.code}`,
      issuedOn: format.dateTime(certificate.issuedAt),
      visibility: certificate.content.isPublic ? 'With the name' : 'Without names',
    },
    pdfProblem: pdfProblem && `${pdfProblem} CERTIFICATE_FONT adds a font.`,
  }
}

/** Describes the automatic placement of an order; `null` if there is nothing to say. */
export function describePlacement(
  placement: OrderMessage | null | undefined,
  format: Formatters,
): string | null {
  switch (placement?.state) {
    case 'pending':
      return placement.detail === null
        ? 'Automatic placement: in the queue.'
        : `Automatic placement: ${placement.detail} The next attempt is on ${format.dateTime(new Date(placement.nextAttemptAt).toISOString())}.`
    case 'failed':
      return `Automatic placement has ended: ${placement.detail ?? ''}`
    default:
      return null
  }
}
