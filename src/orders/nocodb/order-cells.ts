import type { Order } from '../order.js'
import { cellOf, isAsWritten } from './cells.js'
import { ORDER_FIELDS, type ColumnTitles, type OrderField } from './columns.js'
import { writeRecord, type OrderRecord, type RecordedOrder } from './order-record.js'
import type { Cells } from './orders-table.js'
import type { Row } from './row-order.js'

const NOT_RECORDED = ['id', 'orderNumber', 'version']

/** What of an order is kept exactly beside its columns. */
export function recordedOrder(order: Omit<Order, 'id' | 'orderNumber'>): RecordedOrder {
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
  [titles.record]: writeRecord({ ...record, order: recordedOrder(order) }),
})

/** The cells of a new row. */
export function newCells(written: Written, key: string | null, titles: ColumnTitles): Cells {
  const cells: Cells = ownCells(written, titles)
  for (const field of ORDER_FIELDS) {
    if (field !== 'orderNumber') cells[titles[field]] = cellOf(field, written.order[field])
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
export function changedCells(
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
      ? !isAsWritten(field, row[titles[field]], order[field])
      : before[field] !== order[field]
    if (isChanged) cells[titles[field]] = cellOf(field, order[field])
  }
  const number = row[titles.orderNumber]
  if (number === null || number === undefined || number === '') {
    cells[titles.orderNumber] = order.orderNumber
  }
  return cells
}
