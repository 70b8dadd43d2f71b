import type { Formatters } from '../core/formatting/formatters.js'
import type { MessageState } from './messages.js'
import type { Delivery } from './read-messages.js'

/** Converts ms since 1970 for a `time` element. */
export function toTime(ms: number, format: Formatters) {
  const iso = new Date(ms).toISOString()
  return { iso, text: format.dateTime(iso) }
}

/**
 * Whether a page should poll the log. Polling stops after the second attempt, because the delay
 * before later attempts is longer.
 */
export const isLive = (deliveries: readonly Delivery[]): boolean =>
  deliveries.some(({ message }) => message.state === 'pending' && message.attempts < 2)

/** Explains why there are no attempts. */
function getNote({ state }: Delivery['message'], isHeld: boolean): string {
  if (state === 'cancelled') return 'Not sent, because a later message replaced it.'
  return isHeld ? 'Not sent yet. If the change is undone, it is not sent.' : 'Not sent yet.'
}

/** Builds the log entry of an outbox message: its state, and the attempts to send it. */
export function buildMessageView(
  { message, attempts }: Delivery,
  labels: Record<MessageState, string>,
  format: Formatters,
) {
  const { id, state, createdAt, nextAttemptAt } = message
  const isHeld = state === 'pending' && attempts.length === 0 && nextAttemptAt > createdAt
  const until = format.timeWithSeconds(new Date(nextAttemptAt).toISOString())
  return {
    id,
    state: { className: state, label: isHeld ? `${labels[state]} until ${until}` : labels[state] },
    note: getNote(message, isHeld),
    isPending: state === 'pending',
    createdAt: toTime(createdAt, format),
    // Not shown before the first attempt, because that attempt is made immediately.
    nextAttemptAt:
      state === 'pending' && attempts.length > 0 ? toTime(nextAttemptAt, format) : null,
    attempts: attempts.map(({ number, at, durationMs, status, detail }) => ({
      number,
      at: toTime(at, format),
      duration: `${format.count(durationMs)} ms`,
      status: status === null ? 'No response' : String(status),
      detail,
    })),
  }
}
