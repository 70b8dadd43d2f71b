import type { Order, HistoryEntry } from '../../orders/order.js'
import { findLatestAttempt } from '../../fulfilment/attempt.js'
import { isObject } from '../../validation/is-object.js'

/** An order as it was last written from here, exactly; its columns may hold less. */
export type RecordedOrder = Omit<Order, 'id' | 'orderNumber' | 'version'>

/** An entry of the history, with the token of the write that it came by. */
export type RecordedEntry = HistoryEntry & { token?: string }

/** What a row keeps of an order beside its columns. */
export interface OrderRecord {
  order: RecordedOrder
  /** Who entered it */
  by: string
  /** Digest of what was asked for with its idempotency key; `null` without one */
  request: string | null
  /** Changes from the second version on, oldest first; the oldest go where there are too many */
  history: RecordedEntry[]
}

/** Rows stay small enough to be read by the thousand, and for columns of 64 KiB. */
const MOST_HISTORY_BYTES = 40 * 1024
const MOST_ENTRIES = 500

/**
 * The newest entries of a history that find room, the last one always; and the last step of placing
 * the order at the order source, as forgetting that may buy it twice.
 */
function bounded(history: RecordedEntry[]): HistoryEntry[] {
  const kept: RecordedEntry[] = []
  const lastStep = history.findLast((entry) => findLatestAttempt([entry]) !== null)
  let bytes = 0
  for (const entry of history.slice(-MOST_ENTRIES).reverse()) {
    bytes += Buffer.byteLength(JSON.stringify(entry))
    if (bytes > MOST_HISTORY_BYTES && kept.length > 0) break
    kept.push(entry)
  }
  if (lastStep !== undefined && !kept.includes(lastStep)) kept.push(lastStep)
  return kept.reverse()
}

/** A record as its cell holds it. */
export const serializeRecord = (record: OrderRecord): string =>
  JSON.stringify({ ...record, history: bounded(record.history) })

const isEntry = (value: unknown): value is RecordedEntry =>
  isObject(value) &&
  typeof value.at === 'string' &&
  !Number.isNaN(Date.parse(value.at)) &&
  typeof value.by === 'string' &&
  Number.isSafeInteger(value.version) &&
  Array.isArray(value.changes)

/** Reads such a cell; `null` where a person has emptied or edited it into something else. */
export function parseRecord(cell: unknown): OrderRecord | null {
  let value: unknown = cell
  if (typeof cell === 'string') {
    try {
      value = JSON.parse(cell)
    } catch {
      return null
    }
  }
  if (!isObject(value) || !isObject(value.order) || typeof value.by !== 'string') return null
  const { createdAt, updatedAt } = value.order
  if (![createdAt, updatedAt].every((at) => !Number.isNaN(Date.parse(String(at))))) return null
  const { history, request } = value
  if (!Array.isArray(history) || !history.every(isEntry)) return null
  return {
    order: value.order as RecordedOrder,
    by: value.by,
    request: typeof request === 'string' ? request : null,
    history,
  }
}
