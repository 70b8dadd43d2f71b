import type { Database } from '../database/database.js'
import type { OrderStore } from '../order-store/order-store.js'
import { isErased } from '../orders/erasure.js'
import type { Order } from '../orders/order.js'
import type { EventConsumer } from '../outbox/event-dispatcher.js'
import {
  countFailedMessages,
  countMessages,
  getMessage,
  readDeliveries,
  listMessages,
  listOrderMessages,
  requeueMessage,
  type MessageState,
} from '../outbox/outbox.js'
import type { MailDelivery } from './mail-delivery.js'
import type { RenderMail } from './mail-renderer.js'
import { createMailSender } from './mail-sender.js'
import { findMailTypes } from './mail-types.js'
import { enqueueMail, eraseMails, getPayload, isMailOrder, MAIL_QUEUE } from './message.js'

const WEEK_MS = 7 * 24 * 60 * 60 * 1000

interface Options {
  database: Database
  store: Pick<OrderStore, 'get'>
  render: RenderMail
  /** `null` if emails are not configured, in which case no emails are queued */
  delivery: MailDelivery | null
  /** Whether emails have the logo of the operator */
  hasLogo: boolean
  /** Set by tests only */
  retryDelaysMs?: readonly number[]
}

/** The emails to guests about their orders. */
export function createMail({ database, store, render, delivery, hasLogo, retryDelaysMs }: Options) {
  const sender =
    delivery &&
    createMailSender({ store, render, delivery, ...(retryDelaysMs ? { retryDelaysMs } : {}) })

  return {
    /** `null` if emails are not configured */
    sender,
    /** `null` if emails are not configured */
    delivery,
    hasLogo,
    /** The mail server and the sender address; `null` if emails are not configured */
    description: delivery?.description ?? null,

    /** Queues the emails about an order event. */
    consume: (async (tx, event) => {
      const { order } = event
      if (isErased(order)) await eraseMails(tx, order.id)
      if (delivery === null) return
      for (const type of findMailTypes(event)) {
        // With NocoDB, consecutive changes can have the same version.
        await enqueueMail(tx, type, order, `${order.version} ${order.updatedAt}`)
      }
    }) satisfies EventConsumer,

    /** See `enqueueMail`; does nothing if emails are not configured. */
    enqueue: (async (...parameters) => {
      if (delivery !== null) await enqueueMail(...parameters)
    }) satisfies typeof enqueueMail,

    /** Lists the emails about an order, newest first. */
    listOfOrder: async (orderId: string) =>
      readDeliveries(database, await listOrderMessages(database, MAIL_QUEUE, orderId)),

    /** Lists a page of all emails, newest first, with the total number. */
    async list(options: { limit: number; offset: number; states?: readonly MessageState[] }) {
      const messages = await listMessages(database, MAIL_QUEUE, options)
      return {
        items: await readDeliveries(database, messages),
        total: await countMessages(database, MAIL_QUEUE, options.states),
      }
    },

    /** Counts the emails that have failed in the last 7 days. */
    countRecentFailures: (): Promise<number> =>
      countFailedMessages(database, MAIL_QUEUE, Date.now() - WEEK_MS),

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

export type Mail = ReturnType<typeof createMail>
