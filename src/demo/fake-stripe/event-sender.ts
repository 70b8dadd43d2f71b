import { createHmac, randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'

interface FakeEvent {
  id: string
  object: 'event'
  api_version: string
  created: number
  livemode: false
  type: string
  data: { object: object }
}

const API_VERSION = '2026-10-28.endive'
const TIMEOUT_MS = 5_000
/** Much shorter than at Stripe, which retries for three days. */
const RETRY_DELAYS_MS = [100, 200, 400, 800, 1_600, 3_000, 5_000, 10_000, 20_000]

/** Creates the Stripe-Signature header of a webhook. */
export function signWebhook(
  body: string,
  secret: string,
  seconds = Math.floor(Date.now() / 1000),
): string {
  const signature = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')
  return `t=${seconds},v1=${signature}`
}

/** Sends the events of a fake account as signed webhooks, with retries. */
export function createEventSender(secret: string) {
  const events: FakeEvent[] = []
  const closing = new AbortController()
  const sender = {
    /** All events so far */
    events,
    /** Where events are sent; nowhere if `null` */
    url: null as string | null,

    /** Sends an event once; returns the status of the response, 0 if there was none. */
    async send(event: FakeEvent): Promise<number> {
      if (sender.url === null) return 0
      const body = JSON.stringify(event)
      try {
        const response = await fetch(sender.url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json; charset=utf-8',
            'stripe-signature': signWebhook(body, secret),
          },
          body,
          signal: AbortSignal.any([closing.signal, AbortSignal.timeout(TIMEOUT_MS)]),
        })
        await response.arrayBuffer()
        return response.status
      } catch {
        return 0
      }
    },

    /** Records an event and sends it, with retries. */
    emit(type: string, object: object): void {
      const event: FakeEvent = {
        id: `evt_${randomBytes(12).toString('hex')}`,
        object: 'event',
        api_version: API_VERSION,
        created: Math.floor(Date.now() / 1000),
        livemode: false,
        type,
        data: { object: structuredClone(object) },
      }
      events.push(event)
      void sender.sendWithRetries(event)
    },

    async sendWithRetries(event: FakeEvent): Promise<void> {
      for (const delay of [0, ...RETRY_DELAYS_MS]) {
        await sleep(delay, undefined, { signal: closing.signal, ref: false }).catch(() => undefined)
        if (closing.signal.aborted || sender.url === null) return
        const status = await sender.send(event)
        if (status >= 200 && status < 300) return
      }
    },

    close: (): void => closing.abort(),
  }
  return sender
}

export type EventSender = ReturnType<typeof createEventSender>
