import { findLatestAttempt, type FulfilmentAttempt } from '../orders/attempt.js'
import { getCertificateNumber, hasEvidence } from './certificate.js'
import type { CertificateState, IssuedCertificates } from './issued-certificates.js'
import type { Order } from '../orders/order.js'
import type { OrderMessage } from '../orders/order-messages.js'
import type { BuiltSection, OrderData } from '../orders/pages/order-extensions.js'
import { toInlineLabel } from '../orders/labels.js'

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

/**
 * The state of a certificate, and why.
 *
 * @param issue the message that issues it; `null` if there is none
 */
function describeState(
  order: Order,
  attempt: FulfilmentAttempt | null,
  state: CertificateState | null,
  issue: OrderMessage | null,
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

/** Builds the section about the certificate of a guest order; `null` for other orders. */
export async function buildCertificateSection(
  certificates: IssuedCertificates,
  { order, history, format }: OrderData,
): Promise<BuiltSection | null> {
  if (order.checkout === null) return null
  const state = await certificates.findByOrder(order)
  const issue = await certificates.findMessage(order)
  const certificate = state?.certificate
  const pdfProblem = certificate && (await certificates.findPdfProblem(certificate, true))
  return {
    view: {
      state: describeState(order, findLatestAttempt(history), state, issue),
      link: certificate && {
        number: getCertificateNumber(certificate),
        path: `/c/${certificate.code}`,
        issuedOn: format.dateTime(certificate.issuedAt),
        visibility: certificate.content.isPublic ? 'Shows names' : 'Does not show names',
      },
      pdfProblem: pdfProblem && `${pdfProblem} Set CERTIFICATE_FONT to add a font.`,
    },
  }
}
