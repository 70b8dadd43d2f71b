import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { DAY_MS, HOUR_MS } from '../../core/time.js'
import type { Queryable } from '../../database/database.js'
import { isErased } from '../../orders/erase-order.js'
import type { EventConsumer } from '../../orders/order-events/event-dispatcher.js'
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
  isStillTrue,
  MAIL_QUEUE,
  type MailType,
} from './guest-mail-types.js'
import { createMailSender } from './mail-sender.js'
import { createReminders } from './payment-reminders.js'

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
      if (latest === undefined || !isStillTrue(type, order.status)) continue
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
      const history = (await store.getHistory(order.id)) ?? []
      const wasRefunded = [
        previousStatus,
        order.cancelledFrom,
        findRestoredFrom(history, order.version),
      ].includes('refunded')
      const sendAt = getSendTime(order, history)
      const types = findMailTypes(previousStatus, order.status, wasRefunded)
      for (const type of types) {
        // With NocoDB, consecutive changes can have the same version.
        await enqueueMail(tx, type, order, `${order.version} ${order.updatedAt}`, sendAt)
      }
      // They were not true while the order was cancelled.
      if (previousStatus === 'cancelled') {
        await resumeMails(tx, order, ['order_received', 'payment_received'], sendAt)
      }
      // It was not true while the order was paid or cancelled.
      await resumeMails(tx, order, ['payment_reminder'], sendAt)
    }) satisfies EventConsumer,

    /** Queues the email about a certificate; does nothing if emails are not configured. */
    async announceCertificate(tx: Queryable, order: Order, code: string): Promise<void> {
      if (delivery === null || !isMailOrder(order)) return
      const history = (await store.getHistory(order.id)) ?? []
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
