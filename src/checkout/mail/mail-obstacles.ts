import type { Database } from '../../database/database.js'
import { findLatestAttempt } from '../../orders/attempt.js'
import type { OrderStore } from '../../orders/store/order-store.js'
import { findOrderCertificate } from '../../certificates/certificate-store.js'
import { isValid } from '../../certificates/certificate.js'
import type { Order } from '../../orders/order.js'
import { isReceived } from '../../payments/payment.js'
import type { PaymentStore } from '../../payments/payment-store.js'
import { isStillTrue, type MailType } from './mail-types.js'

/** Returns why an email is not sent, because what it says is not true; `null` if it is true. */
export type FindMailObstacle = (type: MailType, order: Order) => Promise<string | null>

/** Creates the check of an email just before it is sent: the change may have been undone. */
export const createObstacleFinder =
  (
    database: Database,
    store: Pick<OrderStore, 'getHistory'>,
    payments: Pick<PaymentStore, 'list'>,
  ): FindMailObstacle =>
  async (type, order) => {
    if (!isStillTrue(type, order.status)) return `the order is now ${order.status}`
    if (type === 'certificate_ready') {
      const certificate = await findOrderCertificate(database, order.id)
      const attempt = findLatestAttempt((await store.getHistory(order.id)) ?? [])
      return certificate !== null && isValid(certificate, order, attempt)
        ? null
        : 'there is no valid certificate'
    }
    if (type !== 'order_refunded') return null
    const found = await payments.list(order.id)
    if (found.some(isReceived)) return 'Stripe has not returned the money'
    const wasRefunded =
      order.cancelledFrom === 'refunded' || found.some(({ refundedMinor }) => refundedMinor > 0)
    return order.status === 'refunded' || wasRefunded ? null : `the order is now ${order.status}`
  }
