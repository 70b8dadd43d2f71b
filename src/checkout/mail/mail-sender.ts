import type { OrderStore } from '../../orders/store/order-store.js'
import { isCustomer } from '../../orders/erasure.js'
import type { Message } from '../../events/outbox.js'
import type { Sender, SendResult } from '../../events/outbox-worker.js'
import { MAX_SEND_MS, type MailDelivery } from '../../mail/mail-delivery.js'
import type { RenderMail } from './mail-renderer.js'
import type { FindMailObstacle } from './mail-obstacles.js'
import type { MailType } from './mail-types.js'
import { getPayload, MAIL_QUEUE } from './message.js'
import { HOUR_MS, MINUTE_MS } from '../../core/time.js'

/** Three days, so that no email is lost if the mail server is down for a weekend. */
const RETRY_DELAYS_MS = [
  MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
  8 * HOUR_MS,
  12 * HOUR_MS,
  24 * HOUR_MS,
  24 * HOUR_MS,
]

const CONCURRENCY = 3
/** Time to read the order and record the attempt */
const GRACE_MS = 15_000

interface Options {
  store: Pick<OrderStore, 'get'>
  render: RenderMail
  findObstacle: FindMailObstacle
  delivery: MailDelivery
  /** Set by tests only */
  retryDelaysMs?: readonly number[]
}

/** Sends the emails in the outbox. */
export function createMailSender({
  store,
  render,
  findObstacle,
  delivery,
  retryDelaysMs = RETRY_DELAYS_MS,
}: Options): Sender {
  async function send(message: Message, signal: AbortSignal): Promise<SendResult> {
    const { to, orderCreatedAt, copy } = getPayload(message)
    const type = message.type as MailType
    const order = await store.get(message.orderId ?? '')
    if (order?.createdAt !== orderCreatedAt) {
      return { outcome: 'rejected', status: null, detail: 'The order no longer exists.' }
    }
    const obstacle = isCustomer(to, order.customerEmail)
      ? await findObstacle(type, order)
      : 'the address of the order was changed'
    if (obstacle !== null) {
      return { outcome: 'cancelled', status: null, detail: `Not sent, because ${obstacle}.` }
    }
    const content = await render(type, order)
    const id = copy === 0 ? message.id : `${message.id}.${copy}`
    const result = await delivery.send({ ...content, id, to }, signal)
    return { ...result, detail: `To ${to}: ${result.detail}` }
  }

  return {
    queuePrefix: MAIL_QUEUE,
    concurrency: CONCURRENCY,
    leaseMs: MAX_SEND_MS + GRACE_MS,
    retryDelaysMs,
    send,
  }
}
