import type { FastifyInstance } from 'fastify'
import { formatIsoDate } from '../../core/formatting/day-calendar.js'
import { HOUR_MS } from '../../core/time.js'
import type { OrderFilters } from '../../orders/order-filters.js'
import type { Order } from '../../orders/order.js'
import { listOrderMessages } from '../../outbox/read-messages.js'
import { enqueueMail, isMailOrder, MAIL_QUEUE, type MailType } from './guest-mail-types.js'

const TYPE: MailType = 'payment_reminder'

/**
 * Payments that are overdue for longer are left to staff. Shorter than the outbox remembers an email
 * (30 days), because a reminder that it has forgotten would be sent again.
 */
const MAX_OVERDUE_DAYS = 29

/** Reminders start at this time of day, so that staff can record what arrived on the last day. */
const START_MS = 10 * HOUR_MS

const BATCH_SIZE = 100

/**
 * Creates the job that queues a reminder for each bank transfer that was not received by its due
 * date: one for an order, however often and in however many processes it runs.
 *
 * @param holdMs how long reminders wait; they are not sent if the order is paid meanwhile
 */
export function createReminders(
  { config, database, orders: store }: FastifyInstance,
  holdMs: number,
) {
  async function remind(order: Order): Promise<void> {
    if (!isMailOrder(order) || order.amountMinor === 0) return
    // Includes reminders that were not sent, for example because the address was changed.
    const messages = await listOrderMessages(database, MAIL_QUEUE, order.id)
    if (messages.some(({ type }) => type === TYPE)) return
    await database.write((tx) => enqueueMail(tx, TYPE, order, 'due', Date.now() + holdMs))
  }

  return async (): Promise<void> => {
    const day = store.calendar.dayOf(Date.now() - START_MS) - config.INVOICE_DUE_DAYS
    const filters: OrderFilters = {
      status: ['pending'],
      origin: ['guest'],
      paymentMethod: ['invoice'],
      from: formatIsoDate(day - MAX_OVERDUE_DAYS),
      to: formatIsoDate(day - 1),
    }
    for (let offset = 0; ; offset += BATCH_SIZE) {
      const slice = { sort: 'placedAt', offset, limit: BATCH_SIZE } as const
      const { items } = await store.list(filters, slice)
      for (const order of items) await remind(order)
      if (items.length < BATCH_SIZE) return
    }
  }
}
