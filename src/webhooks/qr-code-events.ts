import type { FastifyBaseLogger } from 'fastify'
import type { Database } from '../database/database.js'
import { enqueueMessage } from '../outbox/messages.js'
import { countPending } from '../outbox/read-messages.js'
import type { QrCode } from '../qr-codes/generate-qr-code.js'
import { listSubscribers } from './endpoint-store.js'
import { buildMessage, getQueue, type WebhookBody } from './webhook-message.js'

const TYPE = 'qr_code.generated'
const MAX_BUFFERED = 10_000
/** Maximum number of deliveries that wait for an endpoint when a code is added to them */
const MAX_PENDING = 1_000

const toBody = ({ calculation, vessel, link }: QrCode): WebhookBody => ({
  type: TYPE,
  timestamp: link.generatedAt.toISOString(),
  data: {
    ...calculation,
    vessel,
    url: link.url,
    generatedAt: link.generatedAt.toISOString(),
    expiresAt: link.expiresAt.toISOString(),
  },
})

/**
 * Collects generated QR codes in memory and queues their webhooks in the background, so that no
 * request waits for the database. Codes generated just before a crash are not reported, nor are
 * those for which an endpoint has no room.
 */
export function createQrCodeEvents(database: Database, log: FastifyBaseLogger) {
  let buffered: WebhookBody[] = []

  return {
    add(code: QrCode): void {
      if (buffered.length < MAX_BUFFERED) buffered.push(toBody(code))
      else log.warn('too many QR codes: a webhook event was dropped')
    },

    /** Queues the webhooks of the codes collected so far. Call it regularly. */
    async flush(): Promise<void> {
      if (buffered.length === 0) return
      const bodies = buffered
      buffered = []
      try {
        await database.write(async (tx) => {
          for (const id of await listSubscribers(tx, TYPE)) {
            const room = MAX_PENDING - (await countPending(tx, getQueue(id), MAX_PENDING))
            for (const body of bodies.slice(0, room)) {
              await enqueueMessage(tx, buildMessage(id, body))
            }
            if (bodies.length > room) {
              const dropped = bodies.length - room
              log.warn({ endpoint: id, dropped }, 'too many deliveries wait: QR codes are not sent')
            }
          }
        })
      } catch (error) {
        buffered = [...bodies, ...buffered].slice(0, MAX_BUFFERED)
        throw error
      }
    },
  }
}
