import { findLatestAttempt, type FulfilmentAttempt } from '../orders/attempt.js'
import { toInlineLabel } from '../orders/labels.js'
import type { Order } from '../orders/order.js'
import {
  countNoun,
  type BuiltSection,
  type Consequence,
  type ConsequenceOptions,
  type OrderChange,
  type OrderData,
} from '../orders/pages/order-extensions.js'
import type { OrderStore } from '../orders/store/order-store.js'
import type { OrderMessage } from '../outbox/read-messages.js'
import { getCertificateNumber, hasEvidence, isValid, type Certificate } from './certificate.js'
import type { CertificateState, OrderCertificates } from './order-certificates.js'

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
  certificates: OrderCertificates,
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

interface Records {
  /** The newest certificate, valid or not; `null` if there is none */
  certificate: Certificate | null
  /** The latest attempt to place the order with the provider */
  attempt: FulfilmentAttempt | null
}

/** What changes of some orders do to their certificates. */
export interface CertificateChanges {
  /** Whether the order gets a valid certificate */
  isIssued: (change: OrderChange) => boolean
  isWithdrawn: (change: OrderChange) => boolean
  /** Whether the order has, or had, a certificate */
  hasOne: (order: Order) => boolean
}

/** Loads the certificates of guest orders, and the evidence for them. */
export async function loadCertificateChanges(
  certificates: OrderCertificates,
  store: Pick<OrderStore, 'getHistory'>,
  orders: readonly Order[],
): Promise<CertificateChanges> {
  const guestOrders = orders.filter(({ checkout }) => checkout !== null)
  const loading = guestOrders.map(async (order): Promise<[string, Records]> => {
    const state = await certificates.findByOrder(order)
    const attempt = findLatestAttempt((await store.getHistory(order.id)) ?? [])
    return [order.id, { certificate: state?.certificate ?? null, attempt }]
  })
  const records = new Map(await Promise.all(loading))

  /** Whether an order has a valid certificate, or gets one within a minute. */
  function isCertified(order: Order): boolean {
    const found = records.get(order.id)
    if (found === undefined) return false
    const { certificate, attempt } = found
    return (
      (certificate !== null && isValid(certificate, order, attempt)) || hasEvidence(order, attempt)
    )
  }

  return {
    isIssued: ({ before, after }) => !isCertified(before) && isCertified(after),
    isWithdrawn: ({ before, after }) => isCertified(before) && !isCertified(after),
    hasOne: ({ id }) => (records.get(id)?.certificate ?? null) !== null,
  }
}

/** Says how many certificates changes publish and withdraw. */
export function describeCertificateChanges(
  { isIssued, isWithdrawn }: CertificateChanges,
  changes: readonly OrderChange[],
  options: ConsequenceOptions,
): Consequence[] {
  const describe = (verb: string, number: number): Consequence[] =>
    number === 0 ? [] : [{ clause: `${verb} ${countNoun(number, 'certificate', options)}` }]
  return [
    ...describe('publishes', changes.filter(isIssued).length),
    ...describe('withdraws', changes.filter(isWithdrawn).length),
  ]
}
