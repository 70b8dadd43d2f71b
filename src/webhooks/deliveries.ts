import type { Queryable } from '../database/database.js'
import {
  countMessages,
  getMessage,
  readDeliveries,
  listMessages,
  requeueMessage,
  requeueMessages,
  type Delivery,
} from '../events/outbox.js'
import { getQueue } from './message.js'

/** Lists a page of the deliveries to an endpoint, newest first, with their total number. */
export async function listDeliveries(
  tx: Queryable,
  endpointId: string,
  slice: { limit: number; offset: number },
): Promise<{ items: Delivery[]; total: number }> {
  const queue = getQueue(endpointId)
  const items = await readDeliveries(tx, await listMessages(tx, queue, slice))
  return { items, total: await countMessages(tx, queue) }
}

/** Returns a delivery to an endpoint; `null` if it does not exist. */
export async function getDelivery(
  tx: Queryable,
  endpointId: string,
  id: string,
): Promise<Delivery | null> {
  const message = await getMessage(tx, id)
  if (message?.queue !== getQueue(endpointId)) return null
  const [delivery = null] = await readDeliveries(tx, [message])
  return delivery
}

/** Queues a delivery again; returns it, or `null` if it does not exist. */
export async function replayDelivery(
  tx: Queryable,
  endpointId: string,
  id: string,
): Promise<Delivery | null> {
  if ((await getDelivery(tx, endpointId, id)) === null) return null
  await requeueMessage(tx, id)
  return getDelivery(tx, endpointId, id)
}

/** Replays the finished deliveries created since a time (ms since 1970); returns how many. */
export const replayDeliveries = (
  tx: Queryable,
  endpointId: string,
  { since, failedOnly }: { since: number; failedOnly: boolean },
): Promise<number> =>
  requeueMessages(tx, getQueue(endpointId), {
    since,
    states: failedOnly ? ['failed', 'cancelled'] : ['failed', 'cancelled', 'sent'],
  })
