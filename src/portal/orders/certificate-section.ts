import type { Database } from '../../database/database.js'
import { FULFILMENT_QUEUE } from '../../fulfilment/auto-fulfilment.js'
import { getCertificateNumber } from '../../ordering/certificate/certificate.js'
import type { Certificates, CertificateState } from '../../ordering/certificate/certificates.js'
import type { Order } from '../../orders/order.js'
import { findOrderMessage, type OrderMessage } from '../../outbox/order-messages.js'
import type { Formatters } from '../formatters.js'

/** Background work on a guest order. */
export interface GuestOrderData {
  /** The order's automatic placement; `null` if there is none */
  placement: OrderMessage | null
  /** The message that issues the certificate; `null` if there is none */
  issue: OrderMessage | null
  certificate: CertificateState | null
  pdfProblem: string | null
}

/** Loads the background work on a guest order; `null` for other orders. */
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

/** Builds the certificate section of an order; `null` if there is nothing to show. */
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
        : 'It will be issued within a minute.'
    return { note, link: null, pdfProblem: null }
  }
  const { certificate, withdrawal } = state
  return {
    note: withdrawal && WITHDRAWALS[withdrawal],
    link: {
      number: getCertificateNumber(certificate),
      path: `/c/${certificate.code}`,
      issuedOn: format.dateTime(certificate.issuedAt),
      visibility: certificate.content.isPublic ? 'Shows names' : 'Does not show names',
    },
    pdfProblem: pdfProblem && `${pdfProblem} Set CERTIFICATE_FONT to add a font.`,
  }
}

/** Describes the automatic placement of an order; `null` if there is nothing to show. */
export function describePlacement(
  placement: OrderMessage | null | undefined,
  format: Formatters,
): string | null {
  switch (placement?.state) {
    case 'pending':
      return placement.detail === null
        ? 'Automatic placement: queued.'
        : `Automatic placement: ${placement.detail} The next attempt is on ${format.dateTime(new Date(placement.nextAttemptAt).toISOString())}.`
    case 'failed':
      return `Automatic placement stopped: ${placement.detail ?? ''}`
    default:
      return null
  }
}
