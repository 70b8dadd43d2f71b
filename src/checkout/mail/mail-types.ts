import { isPaid, PAID_STATUSES, type OrderStatus } from '../../orders/order-status.js'

/** The types of emails to guests. They are stored, so never rename a type. */
export const MAIL_TYPES = [
  'order_received',
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
  payment_received: [...PAID_STATUSES, 'refunded'],
  certificate_ready: PAID_STATUSES,
  order_cancelled: ['cancelled'],
  order_refunded: ['refunded', 'cancelled'],
}

/** Whether an email still applies. The change that it reports may have been undone. */
export const isStillTrue = (type: MailType, status: OrderStatus): boolean =>
  STATUSES[type].includes(status)
