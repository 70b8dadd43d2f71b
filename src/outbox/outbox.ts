import { setMaxListeners } from 'node:events'
import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { Counter, Registry } from 'prom-client'
import { HOUR_MS } from '../core/time.js'
import type { Database } from '../database/database.js'
import {
  claimMessages,
  deleteFinishedMessages,
  listDueQueues,
  recordAttempt,
  type Message,
  type MessageState,
} from './messages.js'

/** The outcome of an attempt to send a message. */
export interface SendResult {
  /** `cancelled`: it was not sent, because it no longer applies */
  outcome: 'sent' | 'retry' | 'rejected' | 'cancelled'
  /** Status of the HTTP or SMTP response, if there was one */
  status: number | null
  /** The beginning of the response, or the error; without secrets */
  detail: string
  /** The delay that the receiver asks for */
  retryAfterMs?: number
}

/** Sends the messages in the queues whose names start with a prefix. */
export interface Sender {
  queuePrefix: string
  /** Maximum number of messages from one queue that are sent at the same time */
  concurrency: number
  /** How long a message is claimed; longer than an attempt can take */
  leaseMs: number
  /** Delays before the retries; if the last retry fails, the message has failed */
  retryDelaysMs: readonly number[]
  /** Sends a message. An error counts as `retry`. */
  send: (message: Message, signal: AbortSignal) => Promise<SendResult>
  /** Called after an attempt was recorded */
  onAttempt?: (message: Message, result: SendResult) => Promise<void>
}

const FINAL_STATES = {
  sent: 'sent',
  retry: 'failed',
  rejected: 'failed',
  cancelled: 'cancelled',
} as const satisfies Record<SendResult['outcome'], MessageState>

const RETENTION_MS = 30 * 24 * 60 * 60 * 1000

/** Spreads the retries of many messages over a tenth of the delay. */
const addJitter = (delayMs: number): number => delayMs * (1 + Math.random() / 10)

/**
 * Sends the messages in the outbox. Each is sent at least once, unless it is cancelled or fails
 * permanently.
 *
 * @param metrics where the attempts are counted
 */
export function createOutboxWorker(
  database: Database,
  log: FastifyBaseLogger,
  metrics = new Registry(),
) {
  const attempts = new Counter({
    name: 'clearwake_message_attempts_total',
    help: 'Attempts to send messages, by queue and outcome: sent, retry (failed, will be retried), failed (given up) or cancelled (no longer applies)',
    labelNames: ['queue', 'outcome'] as const,
    registers: [metrics],
  })
  const senders: Sender[] = []
  const inFlight = new Map<string, Set<Promise<void>>>()
  const closing = new AbortController()
  // Every message that is being sent adds a listener.
  setMaxListeners(0, closing.signal)

  async function trySend(sender: Sender, message: Message): Promise<SendResult> {
    try {
      return await sender.send(message, closing.signal)
    } catch (error) {
      log.warn({ err: error, message: message.id }, 'a message could not be sent')
      return { outcome: 'retry', status: null, detail: 'unexpected error' }
    }
  }

  async function process(sender: Sender, message: Message): Promise<void> {
    const at = Date.now()
    const startedAt = performance.now()
    const result = await trySend(sender, message)
    // The service is stopping. The attempt is not recorded, so the message is sent again when its
    // lease ends.
    if (closing.signal.aborted && result.outcome !== 'sent') return
    const durationMs = Math.round(performance.now() - startedAt)
    const failures = result.outcome === 'sent' ? 0 : message.failures + 1
    const delayMs = sender.retryDelaysMs[failures - 1]
    const canRetry = result.outcome === 'retry' && delayMs !== undefined
    const waitMs = Math.max(addJitter(delayMs ?? 0), result.retryAfterMs ?? 0)
    const { status, detail } = result
    const state = canRetry ? 'pending' : FINAL_STATES[result.outcome]
    await database.write((tx) =>
      recordAttempt(
        tx,
        message,
        { at, durationMs, status, detail },
        {
          state,
          failures,
          nextAttemptAt: Math.round(Date.now() + waitMs),
        },
      ),
    )
    attempts.inc({ queue: message.queue.replace(/:.*/, ''), outcome: canRetry ? 'retry' : state })
    await sender.onAttempt?.(message, result)
  }

  function start(sender: Sender, message: Message): void {
    const messages = inFlight.get(message.queue) ?? new Set()
    inFlight.set(message.queue, messages)
    const sending = process(sender, message)
      // The message is sent again when its lease ends.
      .catch((err: unknown) =>
        log.error({ err, message: message.id }, 'an attempt was not recorded'),
      )
      .finally(() => messages.delete(sending))
    messages.add(sending)
  }

  return {
    addSender: (sender: Sender): void => void senders.push(sender),

    /** Starts sending the messages that are due. Call it regularly. */
    async sendDue(): Promise<void> {
      for (const queue of await listDueQueues(database, Date.now())) {
        const sender = senders.find(({ queuePrefix }) => queue.startsWith(queuePrefix))
        if (sender === undefined) continue
        const limit = sender.concurrency - (inFlight.get(queue)?.size ?? 0)
        if (limit <= 0) continue
        const claim = { queue, limit, leaseMs: sender.leaseMs }
        for (const message of await database.write((tx) => claimMessages(tx, claim))) {
          start(sender, message)
        }
      }
    },

    /** Deletes messages that finished more than 30 days ago. */
    deleteOld: (): Promise<void> =>
      database.write((tx) => deleteFinishedMessages(tx, Date.now() - RETENTION_MS)),

    /** Aborts the attempts in progress and waits until they have ended. */
    async close(): Promise<void> {
      closing.abort()
      await Promise.all([...inFlight.values()].flatMap((messages) => [...messages]))
    },
  }
}

export type OutboxWorker = ReturnType<typeof createOutboxWorker>

declare module 'fastify' {
  interface FastifyInstance {
    /** Sends the messages that features have queued */
    outbox: OutboxWorker
  }
}

const POLL_MS = 500

/** Sends the messages in the outbox. */
export default fp(
  async (app) => {
    const outbox = createOutboxWorker(app.database, app.log, app.metrics)
    app.decorate('outbox', outbox)
    app.schedule('send messages', POLL_MS, () => outbox.sendDue())
    app.schedule('delete old messages', HOUR_MS, () => outbox.deleteOld())
    app.addHook('preClose', () => outbox.close())
  },
  { name: 'outbox', dependencies: ['database', 'scheduler', 'telemetry'] },
)
