import type { ChangeContext, ChangeResult, CreateResult } from '../order-store.js'
import { hashIdempotencyKey, hashOrder } from '../../orders/idempotency.js'
import type { OrderCommand } from '../../orders/order-command.js'
import type { NewOrder } from '../../orders/order.js'
import type { ColumnTitles } from './columns.js'
import { createOrderCreator } from './create-order.js'
import { createPerOrderMutex } from './per-order-mutex.js'
import { createOrderUpdater } from './update-order.js'
import type { OrdersTable } from './orders-table.js'
import type { Replica } from './replica.js'
import { WriteRejectedError } from './write-rejection.js'

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
export function createOrderWrites({ requireWritable, onMisfit, onUnnumbered, ...store }: Options) {
  const inLine = createPerOrderMutex()
  const keysInLine = createPerOrderMutex()
  const enter = createOrderCreator({ ...store, inLine, onUnnumbered })
  const versions = createOrderUpdater({ ...store, inLine })

  async function write<T>(work: () => Promise<T>): Promise<T> {
    requireWritable()
    try {
      return await work()
    } catch (error) {
      const { trouble } = error instanceof WriteRejectedError ? error : { trouble: null }
      if (trouble === 'no such column' || trouble === 'value refused') onMisfit()
      throw error
    }
  }

  function enterOnce(given: NewOrder, by: string, idempotencyKey?: string): Promise<CreateResult> {
    const request = hashOrder(given)
    if (idempotencyKey === undefined) return enter({ given, by, key: null, request })
    const key = hashIdempotencyKey(idempotencyKey, by)
    return keysInLine(key, () => enter({ given, by, key, request }))
  }

  return {
    /** Enters an order. The same key and order again, from the same person, gives the one that is there. */
    create: (given: NewOrder, by: string, idempotencyKey?: string) =>
      write(() => enterOnce(given, by, idempotencyKey)),
    /** Changes an order, all of it or nothing. */
    apply: (id: string, command: OrderCommand, context: ChangeContext): Promise<ChangeResult> =>
      write(() => versions.apply(id, command, context)),
    adopt: versions.adopt,
  }
}
