import { findLatestAttempt, type FulfilmentAttempt } from '../orders/attempt.js'
import type { Order } from '../orders/order.js'
import {
  countNoun,
  type Consequence,
  type ConsequenceOptions,
  type OrderChange,
} from '../orders/pages/consequences.js'
import type { OrderStore } from '../orders/store/order-store.js'
import { hasEvidence, isValid, type Certificate } from './certificate.js'
import type { IssuedCertificates } from './issued-certificates.js'

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
  certificates: IssuedCertificates,
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
