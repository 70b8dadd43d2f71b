import type { Queryable } from '../database/database.js'
import { cancelMessages } from '../events/outbox.js'
import { updateEndpoint, type DisabledReason } from './endpoint-store.js'
import { getQueue } from './message.js'

/** Disables an endpoint and cancels its pending deliveries, in the caller's transaction. */
export async function disableEndpoint(
  tx: Queryable,
  id: string,
  reason: DisabledReason,
  now: number,
): Promise<void> {
  await updateEndpoint(tx, id, { disabledReason: reason, disabledAt: now, updatedAt: now })
  await cancelMessages(tx, getQueue(id))
}
