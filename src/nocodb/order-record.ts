import { isObject, parseJson } from '../core/validation/formats.js'
import { wasEnded } from '../orders/accepted-terms.js'
import { findLatestAttempt } from '../orders/attempt.js'
import type { HistoryEntry, Order } from '../orders/order.js'
import {
  encodeCell,
  matchesWrittenValue,
  ORDER_FIELDS,
  type Cells,
  type ColumnTitles,
  type OrderField,
  type Row,
} from './columns.js'

/**
 * The exact values that were last written; cells may hold rounded or edited values. Records written
 * by earlier releases lack the optional fields.
 */
export type RecordedOrder = Omit<Order, 'id' | 'orderNumber' | 'version' | LaterField> &
  Partial<Pick<Order, LaterField>>
type LaterField = 'origin' | 'checkout' | 'cancelledFrom' | 'paidAt' | 'retirement'

/** A history entry with the token of the write that added it. */
type RecordedEntry = HistoryEntry & { token?: string }

/** JSON in the Record column: what the other columns of a row cannot hold. */
export interface OrderRecord {
  order: RecordedOrder
  /** User who created the order */
  by: string
  /** Hash of the request that had the idempotency key; `null` if there was no key */
  request: string | null
  /**
   * Entries from the second version on, oldest first; if there are too many, the oldest are dropped
   */
  history: RecordedEntry[]
}

/** Keeps pages of 1,000 rows small, and the cell below 64 KiB. */
const MAX_HISTORY_BYTES = 40 * 1024
const MAX_HISTORY_ENTRIES = 500

/**
 * Keeps the newest entries within the limits, but at least one entry. Always keeps the latest
 * fulfilment attempt, and that the order was cancelled or refunded, because otherwise the order could
 * be placed with the provider twice, or though it has ended.
 */
function truncateHistory(history: RecordedEntry[]): RecordedEntry[] {
  const kept: RecordedEntry[] = []
  let bytes = 0
  for (const entry of history.slice(-MAX_HISTORY_ENTRIES).reverse()) {
    bytes += Buffer.byteLength(JSON.stringify(entry))
    if (bytes > MAX_HISTORY_BYTES && kept.length > 0) break
    kept.push(entry)
  }
  const needed = [
    history.findLast((entry) => findLatestAttempt([entry]) !== null),
    history.findLast((entry) => wasEnded([entry])),
  ]
  return history.filter((entry) => kept.includes(entry) || needed.includes(entry))
}

export const serializeRecord = (record: OrderRecord): string =>
  JSON.stringify({ ...record, history: truncateHistory(record.history) })

const isTimestamp = (value: unknown): boolean =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value))

const isHistoryEntry = (value: unknown): value is RecordedEntry =>
  isObject(value) &&
  isTimestamp(value.at) &&
  typeof value.by === 'string' &&
  Number.isSafeInteger(value.version) &&
  Array.isArray(value.changes)

/** Parses a Record cell; `null` if it is empty, or invalid because it was edited. */
export function parseRecord(cell: unknown): OrderRecord | null {
  const value = typeof cell === 'string' ? parseJson(cell) : cell
  if (!isObject(value) || !isObject(value.order) || typeof value.by !== 'string') return null
  if (!isTimestamp(value.order.createdAt) || !isTimestamp(value.order.updatedAt)) return null
  const { history, request } = value
  if (!Array.isArray(history) || !history.every(isHistoryEntry)) return null
  return {
    order: value.order as RecordedOrder,
    by: value.by,
    request: typeof request === 'string' ? request : null,
    history,
  }
}

const NOT_RECORDED = ['id', 'orderNumber', 'version']

/** The part of an order that is stored in its record. */
export function toRecordedOrder(order: Omit<Order, 'id' | 'orderNumber'>): RecordedOrder {
  const recorded = Object.entries(order).filter(([field]) => !NOT_RECORDED.includes(field))
  return Object.fromEntries(recorded) as RecordedOrder
}

interface OrderWrite<O extends Omit<Order, 'id' | 'orderNumber'> = Order> {
  order: O
  record: Omit<OrderRecord, 'order'>
  token: string
}

const encodeInternalCells = (
  { order, record, token }: OrderWrite<Omit<Order, 'id' | 'orderNumber'>>,
  titles: ColumnTitles,
): Cells => ({
  [titles.version]: order.version,
  [titles.writeToken]: token,
  [titles.record]: serializeRecord({ ...record, order: toRecordedOrder(order) }),
})

/** Encodes the cells of a new row. */
export function encodeNewOrder(
  write: OrderWrite<Omit<Order, 'id' | 'orderNumber'>>,
  key: string | null,
  titles: ColumnTitles,
): Cells {
  const cells = encodeInternalCells(write, titles)
  for (const field of ORDER_FIELDS) {
    if (field !== 'orderNumber') cells[titles[field]] = encodeCell(field, write.order[field])
  }
  if (key !== null) cells[titles.idempotencyKey] = key
  return cells
}

/**
 * The status and the timestamps that follow from it. A status edit in NocoDB does not update the
 * timestamps, and an impossible one is not accepted, so the cells are compared with the new values.
 */
const DERIVED: readonly OrderField[] = ['status', 'fulfilledAt', 'cancelledAt']

/** Encodes the cells that a change writes; cells of other fields keep edits made in NocoDB. */
export function encodeChangedOrder(
  row: Row,
  before: Order,
  write: OrderWrite,
  titles: ColumnTitles,
): Cells {
  const { order } = write
  const cells = encodeInternalCells(write, titles)
  for (const field of ORDER_FIELDS) {
    if (field === 'orderNumber') continue
    const isChanged = DERIVED.includes(field)
      ? !matchesWrittenValue(field, row[titles[field]], order[field])
      : before[field] !== order[field]
    if (isChanged) cells[titles[field]] = encodeCell(field, order[field])
  }
  if ((row[titles.orderNumber] ?? '') === '') cells[titles.orderNumber] = order.orderNumber
  return cells
}
