import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { formatIsoDate } from '../../core/formatting/day-calendar.js'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.js'
import type { Queryable } from '../../database/database.js'
import { isErased } from '../../orders/erase-order.js'
import type { EventConsumer } from '../../orders/order-events/event-dispatcher.js'
import type { OrderFilters } from '../../orders/order-filters.js'
import type { HistoryEntry, Order } from '../../orders/order.js'
import { requeueMessage, resumeMessage } from '../../outbox/messages.js'
import {
  countFailedMessages,
  countMessages,
  getMessage,
  listMessages,
  listOrderMessages,
  readDeliveries,
  type Slice,
} from '../../outbox/read-messages.js'
import { STRIPE } from '../../payments/payment.js'
import { AUTO_FULFILMENT } from '../../provider/fulfilment/auto-fulfilment.js'
import { GUEST } from '../place-order.js'
import pages, { buildOrderMailsView, describeMails } from './guest-mail-pages.js'
import {
  enqueueMail,
  eraseMails,
  findMailTypes,
  getPayload,
  isMailOrder,
  isReplacedByPayment,
  isStillTrue,
  MAIL_QUEUE,
  type MailType,
} from './guest-mail-types.js'
import { createMailSender } from './mail-sender.js'

const REMINDER: MailType = 'payment_reminder'

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
    if (messages.some(({ type }) => type === REMINDER)) return
    await database.write((tx) => enqueueMail(tx, REMINDER, order, 'due', Date.now() + holdMs))
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

/** How long guests have to pay through Stripe before they get the email about the order. */
const PAYMENT_WAIT_MS = 15 * MINUTE_MS

/** Who changes orders without a person who may undo the change. */
const AUTOMATIC_ACTORS: readonly string[] = [GUEST, STRIPE, AUTO_FULFILMENT]

/** The status before the cancellation that a change ended; `undefined` if it ended none. */
function findRestoredFrom(history: readonly HistoryEntry[], version: number): unknown {
  const changes = history
    .filter((entry) => entry.version < version)
    .flatMap((entry) => entry.changes.filter(({ field }) => field === 'status'))
  return changes[0]?.to === 'cancelled' ? changes[0].from : undefined
}

/** The emails to guests about their orders. */
function createMail(app: FastifyInstance) {
  // Without a delivery, emails are not configured, and none are queued.
  const { database, orders: store, mailDelivery: delivery } = app
  const holdMs = app.config.MAIL_HOLD_SECONDS * 1000

  /** When to send an email about the latest change to an order; `undefined` at once. */
  function getSendTime(order: Order, history: readonly HistoryEntry[]): number | undefined {
    const change = history.find(({ version }) => version === order.version)
    if (change !== undefined && AUTOMATIC_ACTORS.includes(change.by)) return undefined
    return Date.parse(order.updatedAt) + holdMs
  }

  /** Sends the latest email of each type that was held back, if the guest got none of this type. */
  async function resumeMails(
    tx: Queryable,
    order: Order,
    types: readonly MailType[],
    sendAt?: number,
  ): Promise<void> {
    const messages = await listOrderMessages(tx, MAIL_QUEUE, order.id)
    for (const type of types) {
      const ofType = messages.filter((message) => message.type === type)
      const [latest] = ofType
      if (latest === undefined || !isStillTrue(type, order)) continue
      const isHeldBack = ofType.every(({ state }) => state === 'cancelled')
      if (isHeldBack) await resumeMessage(tx, latest.id, sendAt)
    }
  }

  return {
    /** `null` if emails are not configured */
    sender: delivery && createMailSender(app, delivery),
    /** How long emails wait that are caused by a person who may undo the change */
    holdMs,
    /** The mail server and the sender address; `null` if emails are not configured */
    description: delivery?.description ?? null,

    /** Queues the emails about an order event. */
    consume: (async (tx, event) => {
      const { order, previousStatus } = event
      if (isErased(order)) await eraseMails(tx, order.id)
      if (delivery === null || !isMailOrder(order) || previousStatus === order.status) return
      const history = (await store.getHistory(order.id, tx)) ?? []
      const wasRefunded = [
        previousStatus,
        order.cancelledFrom,
        findRestoredFrom(history, order.version),
      ].includes('refunded')
      const sendAt = getSendTime(order, history)
      const types = findMailTypes(previousStatus, order.status, wasRefunded)
      for (const type of types) {
        const time = isReplacedByPayment(type, order)
          ? Date.parse(order.createdAt) + PAYMENT_WAIT_MS
          : sendAt
        // With NocoDB, consecutive changes can have the same version.
        await enqueueMail(tx, type, order, `${order.version} ${order.updatedAt}`, time)
      }
      // They were not true while the order was paid or cancelled.
      await resumeMails(tx, order, ['order_received', 'payment_reminder'], sendAt)
      // It was not true while the order was cancelled.
      if (previousStatus === 'cancelled') {
        await resumeMails(tx, order, ['payment_received'], sendAt)
      }
    }) satisfies EventConsumer,

    /** Queues the email about a certificate; does nothing if emails are not configured. */
    async announceCertificate(tx: Queryable, order: Order, code: string): Promise<void> {
      if (delivery === null || !isMailOrder(order)) return
      const history = (await store.getHistory(order.id, tx)) ?? []
      await enqueueMail(tx, 'certificate_ready', order, code, getSendTime(order, history))
    },

    /** Announces that money was returned, if the order's status did not change with it. */
    async announceRefund(order: Order): Promise<void> {
      if (delivery === null || !isMailOrder(order)) return
      await database.write(async (tx) => {
        await resumeMails(tx, order, ['order_refunded'])
        // Its payment arrived after the cancellation.
        const isLate = order.status === 'cancelled' && order.paidAt === null
        if (isLate) await enqueueMail(tx, 'order_refunded', order, 'returned')
      })
    },

    /** Lists the emails about an order, newest first. */
    listOfOrder: async (orderId: string) =>
      readDeliveries(database, await listOrderMessages(database, MAIL_QUEUE, orderId)),

    /** Lists a page of all emails, newest first, with the total number. */
    async list(options: Slice) {
      const messages = await listMessages(database, MAIL_QUEUE, options)
      return {
        items: await readDeliveries(database, messages),
        total: await countMessages(database, MAIL_QUEUE, options),
      }
    },

    /** Counts the emails that have failed in the last 7 days. */
    countRecentFailures: (): Promise<number> =>
      countFailedMessages(database, MAIL_QUEUE, Date.now() - 7 * DAY_MS),

    /**
     * Sends an email again, to the order's current address. Returns `false` if the order has no
     * such email, or no valid address.
     */
    sendAgain: (order: Order, id: string): Promise<boolean> =>
      database.write(async (tx) => {
        const message = await getMessage(tx, id)
        if (message?.queue !== MAIL_QUEUE || message.orderId !== order.id) return false
        if (!isMailOrder(order)) return false
        const payload = getPayload(message)
        const copy = message.state === 'sent' ? payload.copy + 1 : payload.copy
        await requeueMessage(tx, id, { ...payload, to: order.customerEmail, copy })
        return true
      }),
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Emails to guests about their orders */
    mail: ReturnType<typeof createMail>
  }
}

/** Sends the emails about orders. */
export default fp(
  async (app) => {
    const mail = createMail(app)
    app.decorate('mail', mail)
    app.portalPages.push(pages)
    app.orderPage.addSection({
      place: 'emails',
      template: '/checkout/_mails',
      build: async ({ order, format }) =>
        order.origin === 'guest'
          ? {
              view: buildOrderMailsView(
                order.id,
                await mail.listOfOrder(order.id),
                mail.description !== null,
                format,
              ),
            }
          : null,
    })
    if (mail.description !== null) {
      app.orderPage.addConsequences(async (orders) => {
        const loaded = await app.certificates.loadChanges(orders)
        return (changes, options) => describeMails(changes, loaded, mail.holdMs, options)
      })
    }
    app.events.addConsumer('mail', mail.consume, 'Emails')
    app.eraser.add({ eraseFormerCustomer: eraseMails })
    if (mail.sender) {
      app.outbox.addSender(mail.sender)
      app.schedule('remind guests to pay', HOUR_MS, createReminders(app, mail.holdMs))
    }
    app.payments.onReturned((order) => mail.announceRefund(order))
    app.certificates.onIssued((tx, { certificate, order }) =>
      mail.announceCertificate(tx, order, certificate.code),
    )
  },
  { name: 'guest-mail', dependencies: ['mail', 'checkout', 'payments', 'certificates', 'erasure'] },
)
