import { isEmail } from '../../core/validation/email-address.js'
import type { Queryable } from '../../database/database.js'
import { ERASED_EMAIL, isCustomer, isErased } from '../../orders/erase-order.js'
import { isPaid, PAID_STATUSES, type OrderStatus } from '../../orders/order-status.js'
import type { Order } from '../../orders/order.js'
import {
  cancelOtherMessages,
  enqueueMessage,
  eraseMessages,
  getMessageId,
  resumeMessage,
  type Message,
} from '../../outbox/messages.js'

export const MAIL_QUEUE = 'mail'

/**
 * The part of an email that the outbox stores. The rest is rendered when it is sent, so that the
 * token of the order's link is not stored.
 */
interface MailPayload {
  to: string
  /** Identifies the order together with its ID, because a restored database can reuse an ID */
  orderCreatedAt: string
  orderNumber: string
  /** Number of times it was resent. Part of the Message-ID: email clients hide duplicates. */
  copy: number
}

/** Written by `enqueueMail` only. */
export const getPayload = ({ payload }: Pick<Message, 'payload'>): MailPayload =>
  payload as MailPayload

/** Only guests get emails. An address that was written into NocoDB by hand may be invalid. */
export const isMailOrder = (order: Pick<Order, 'origin' | 'customerEmail'>): boolean =>
  order.origin === 'guest' && isEmail(order.customerEmail) && !isErased(order)

/**
 * Queues an email about a guest's order, in the caller's transaction. Does nothing for other
 * orders, or if the same email was sent before. Replaces emails that have not been sent yet: those
 * of the same type, and before an email that is sent at once, those that no longer apply. Before any
 * other, only the one about the order, which would delay it.
 *
 * @param occasion distinguishes the email from others of its type about this order, for example the
 *   version of the order, or the ID of its certificate
 * @param sendAt ms since 1970; by default at once
 */
export async function enqueueMail(
  tx: Queryable,
  type: MailType,
  order: Order,
  occasion: string,
  sendAt?: number,
): Promise<void> {
  if (!isMailOrder(order)) return
  const { id: orderId, createdAt, orderNumber, customerEmail: to } = order
  const payload: MailPayload = { to, orderCreatedAt: createdAt, orderNumber, copy: 0 }
  const message = {
    id: getMessageId(MAIL_QUEUE, orderId, createdAt, type, occasion),
    queue: MAIL_QUEUE,
    sequence: `${MAIL_QUEUE}:${orderId}`,
    type,
    orderId,
    payload,
  }
  const isQueued =
    (await enqueueMessage(tx, message, sendAt)) || (await resumeMessage(tx, message.id, sendAt))
  if (!isQueued) return
  const replaced = MAIL_TYPES.filter(
    (other) =>
      other === type ||
      ((sendAt === undefined || other === 'order_received') && !isStillTrue(other, order)),
  )
  await cancelOtherMessages(tx, message, replaced)
}

/**
 * Erases the address from the emails about an order, and cancels the emails that have not been sent
 * yet.
 *
 * @param email only emails to this address; all if it is left out
 */
export const eraseMails = (tx: Queryable, orderId: string, email?: string): Promise<void> =>
  eraseMessages(tx, { orderId, queuePrefix: MAIL_QUEUE, isCancelled: true }, (payload) => {
    const mail = payload as MailPayload
    const isKept = email !== undefined && !isCustomer(email, mail.to)
    return isKept ? null : { ...mail, to: ERASED_EMAIL }
  })

/** The types of emails to guests. They are stored, so never rename a type. */
const MAIL_TYPES = [
  'order_received',
  'payment_reminder',
  'payment_received',
  'certificate_ready',
  'order_cancelled',
  'order_refunded',
] as const
export type MailType = (typeof MAIL_TYPES)[number]

const UNPAID: readonly (OrderStatus | null)[] = [null, 'pending']

/**
 * The emails about a change of status. An order can skip the status `paid`. A cancelled order that
 * is paid again has only been restored. A guest whose payment was refunded gets no further emails
 * about a cancellation or a refund.
 *
 * @param previousStatus `null` for a new order
 * @param wasRefunded whether the order had been refunded before the change
 */
export function findMailTypes(
  previousStatus: OrderStatus | null,
  status: OrderStatus,
  wasRefunded = previousStatus === 'refunded',
): MailType[] {
  const types: MailType[] = previousStatus === null ? ['order_received'] : []
  if (isPaid(status) && UNPAID.includes(previousStatus)) types.push('payment_received')
  if (status === previousStatus || wasRefunded) return types
  if (status === 'cancelled') types.push('order_cancelled')
  if (status === 'refunded') types.push('order_refunded')
  return types
}

const STATUSES: Record<MailType, readonly OrderStatus[]> = {
  order_received: ['pending', ...PAID_STATUSES, 'refunded'],
  payment_reminder: ['pending'],
  payment_received: [...PAID_STATUSES, 'refunded'],
  certificate_ready: PAID_STATUSES,
  order_cancelled: ['cancelled'],
  order_refunded: ['refunded', 'cancelled'],
}

/** Whether an email waits for a payment through Stripe, whose own email replaces it. */
export const isReplacedByPayment = (
  type: MailType,
  { checkout }: Pick<Order, 'checkout'>,
): boolean => type === 'order_received' && checkout?.paymentMethod === 'stripe'

/** Whether an email still applies. The change that it reports may have been undone. */
export const isStillTrue = (type: MailType, order: Pick<Order, 'status' | 'checkout'>): boolean =>
  STATUSES[type].includes(order.status) &&
  (order.status === 'pending' || !isReplacedByPayment(type, order))
