import type { Order } from '../../orders/order.js'
import { encodeCell, matchesWrittenValue } from './cell-codec.js'
import { ORDER_FIELDS, type ColumnTitles, type OrderField } from './columns.js'
import { serializeRecord, type OrderRecord, type RecordedOrder } from './history-record.js'
import type { Cells } from './orders-table.js'
import type { Row } from './parse-row.js'

const NOT_RECORDED = ['id', 'orderNumber', 'version']

/** What of an order is kept exactly beside its columns. */
export function toRecordedOrder(order: Omit<Order, 'id' | 'orderNumber'>): RecordedOrder {
  const kept = Object.entries(order).filter(([field]) => !NOT_RECORDED.includes(field))
  return Object.fromEntries(kept) as RecordedOrder
}

interface Written {
  order: Omit<Order, 'id' | 'orderNumber'>
  record: Omit<OrderRecord, 'order'>
  token: string
}

const ownCells = ({ order, record, token }: Written, titles: ColumnTitles): Cells => ({
  [titles.version]: order.version,
  [titles.writeToken]: token,
  [titles.record]: serializeRecord({ ...record, order: toRecordedOrder(order) }),
})

/** The cells of a new row. */
export function encodeNewOrder(written: Written, key: string | null, titles: ColumnTitles): Cells {
  const cells: Cells = ownCells(written, titles)
  for (const field of ORDER_FIELDS) {
    if (field !== 'orderNumber') cells[titles[field]] = encodeCell(field, written.order[field])
  }
  if (key !== null) cells[titles.idempotencyKey] = key
  return cells
}

/** Times that follow from a status; nobody names them in a change. */
const DERIVED: readonly OrderField[] = ['fulfilledAt', 'cancelledAt']

/**
 * The cells that a change writes: those of the fields that it changes. What people have written
 * into the others stays as it is, also where no order can have it.
 */
export function encodeChangedOrder(
  row: Row,
  before: Order,
  written: Written & { order: Order },
  titles: ColumnTitles,
): Cells {
  const cells: Cells = ownCells(written, titles)
  const { order } = written
  for (const field of ORDER_FIELDS) {
    if (field === 'orderNumber') continue
    const isChanged = DERIVED.includes(field)
      ? !matchesWrittenValue(field, row[titles[field]], order[field])
      : before[field] !== order[field]
    if (isChanged) cells[titles[field]] = encodeCell(field, order[field])
  }
  const number = row[titles.orderNumber]
  if (number === null || number === undefined || number === '') {
    cells[titles.orderNumber] = order.orderNumber
  }
  return cells
}
