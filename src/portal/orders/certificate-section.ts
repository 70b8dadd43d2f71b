import type { FastifyInstance } from 'fastify'
import { FULFILMENT_QUEUE } from '../../provider/fulfilment/auto-fulfilment.js'
import { findLatestAttempt, type FulfilmentAttempt } from '../../orders/attempt.js'
import {
  getCertificateNumber,
  hasEvidence,
  formatRetirementDate,
} from '../../certificates/certificate.js'
import type { CertificateState } from '../../certificates/issued-certificates.js'
import type { HistoryEntry, Order } from '../../orders/order.js'
import { findOrderMessage, type OrderMessage } from '../../orders/order-messages.js'
import type { Formatters } from '../../core/formatting/formatters.js'
import { toInlineLabel } from '../../orders/labels.js'

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
  { database, certificates }: Pick<FastifyInstance, 'database' | 'certificates'>,
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

/** Why there is no valid certificate. */
function explainMissing(
  order: Order,
  attempt: FulfilmentAttempt | null,
  issue: OrderMessage | null,
): string {
  if (order.status === 'cancelled' || order.status === 'refunded') {
    return `The order is ${toInlineLabel(order.status)}.`
  }
  if (order.paidAt === null) return 'It will be issued when the order is paid and retired.'
  if (!hasEvidence(order, attempt)) {
    return 'There is no evidence yet that carbon credits were retired. It will be issued when the provider has fulfilled the order, or when you enter the retirement.'
  }
  return issue?.state === 'failed'
    ? `It could not be issued: ${issue.detail ?? ''}`
    : 'It will be issued within a minute.'
}

/** The state of a certificate, and why. */
function describeState(
  order: Order,
  attempt: FulfilmentAttempt | null,
  { certificate: state, issue }: GuestOrderData,
): { label: string; note: string | null } {
  if (state !== null && state.withdrawal === null) {
    const note = hasEvidence(order, attempt)
      ? null
      : 'It was issued without evidence that carbon credits were retired. Enter the retirement.'
    return { label: 'Issued', note }
  }
  return {
    label: state === null ? 'Pending' : 'Withdrawn',
    note: explainMissing(order, attempt, issue),
  }
}

/** Builds the section about the certificate of a guest order and the retirement of any order. */
export function buildCertificateSection(
  order: Order,
  { guest, history }: { guest: GuestOrderData | null; history: readonly HistoryEntry[] },
  format: Formatters,
) {
  const certificate = guest?.certificate?.certificate
  const { retirement } = order
  return {
    state: guest && describeState(order, findLatestAttempt(history), guest),
    link: certificate && {
      number: getCertificateNumber(certificate),
      path: `/c/${certificate.code}`,
      issuedOn: format.dateTime(certificate.issuedAt),
      visibility: certificate.content.isPublic ? 'Shows names' : 'Does not show names',
    },
    pdfProblem: guest?.pdfProblem && `${guest.pdfProblem} Set CERTIFICATE_FONT to add a font.`,
    retirement: retirement && {
      ...retirement,
      retiredOn: formatRetirementDate(retirement, format.dateTime),
    },
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
