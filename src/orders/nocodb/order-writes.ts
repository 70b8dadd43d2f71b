import type { ChangeContext, ChangeOutcome, CreateOutcome } from '../book/order-book.js'
import { keyDigest, orderDigest } from '../idempotency-keys.js'
import { cancelledOrder, changedOrder, undoneOrder } from '../order-changes.js'
import type { NewOrder, OrderChanges } from '../order.js'
import { steppedOrder, type Placement } from '../placement/placement.js'
import type { ColumnTitles } from './columns.js'
import { orderEntry } from './order-entry.js'
import { orderLine } from './order-line.js'
import { orderVersions } from './order-versions.js'
import type { OrdersTable } from './orders-table.js'
import type { Replica } from './replica.js'
import { WriteRefused } from './write-refusal.js'

interface Options {
  table: OrdersTable
  replica: Replica
  titles: ColumnTitles
  /** Throws WriteRefused unless the table and the copy are ready for it */
  requireWritable: () => void
  /** Is told where the table may not fit any more */
  onMisfit: () => void
  /** Is told where a new row was not given its number */
  onUnnumbered: () => void
}

/**
 * Writes orders to NocoDB, each write all or nothing, and then into the copy. Throws WriteRefused.
 */
export function orderWrites({ requireWritable, onMisfit, onUnnumbered, ...store }: Options) {
  const inLine = orderLine()
  const keysInLine = orderLine()
  const enter = orderEntry({ ...store, inLine, onUnnumbered })
  const versions = orderVersions({ ...store, inLine })

  async function write<T>(work: () => Promise<T>): Promise<T> {
    requireWritable()
    try {
      return await work()
    } catch (error) {
      const { trouble } = error instanceof WriteRefused ? error : { trouble: null }
      if (trouble === 'no such column' || trouble === 'value refused') onMisfit()
      throw error
    }
  }

  function enterOnce(given: NewOrder, by: string, idempotencyKey?: string): Promise<CreateOutcome> {
    const request = orderDigest(given)
    if (idempotencyKey === undefined) return enter({ given, by, key: null, request })
    const key = keyDigest(idempotencyKey, by)
    return keysInLine(key, () => enter({ given, by, key, request }))
  }

  return {
    /** Enters an order. The same key and order again, from the same person, gives the one that is there. */
    create: (given: NewOrder, by: string, idempotencyKey?: string) =>
      write(() => enterOnce(given, by, idempotencyKey)),
    /** Changes an order, all of it or nothing. */
    change: (id: string, changes: OrderChanges, context: ChangeContext): Promise<ChangeOutcome> =>
      write(() =>
        versions.change(id, context, (order, _history, now) => changedOrder(order, changes, now)),
      ),
    /** Calls an order off; the record stays. */
    cancel: (id: string, context: ChangeContext): Promise<ChangeOutcome> =>
      write(() =>
        versions.change(id, context, (order, _history, now) => cancelledOrder(order, now)),
      ),
    /** Takes an order one step back: see `undoneOrder`. */
    undo: (id: string, context: ChangeContext): Promise<ChangeOutcome> =>
      write(() => versions.change(id, context, undoneOrder)),
    /** Notes the next step of placing an order at the order source, where it follows. */
    notePlacement: (id: string, step: Placement, context: ChangeContext): Promise<ChangeOutcome> =>
      write(() =>
        versions.change(id, context, (order, history, now) =>
          steppedOrder(order, history, step, now),
        ),
      ),
    adopt: versions.adopt,
  }
}
