import type { CreateResult } from '../orders/store/order-store.js'
import { hashIdempotencyKey, hashOrder } from '../orders/idempotency-hashes.js'
import type { ColumnTitles } from './columns.js'
import { createOrderCreator } from './create-order.js'
import { createKeyedMutex } from '../database/state-store/keyed-mutex.js'
import type { OrdersTable } from './orders-table.js'
import type { WriteResult, WriteTask } from './replica-messages.js'
import type { Replica } from './replica.js'
import { createOrderUpdater } from './update-order.js'
import { WriteRejectedError } from './write-rejection.js'

interface Options {
  table: OrdersTable
  replica: Replica
  titles: ColumnTitles
  /** Throws WriteRejectedError unless orders can be written */
  requireWritable: () => void
  /** Called if the schema of the table may have become invalid */
  onSchemaMismatch: () => void
  /** Called if the order number could not be written to a new row */
  onNumberNotWritten: () => void
}

/** Writes orders to NocoDB and then to the replica. */
export function createOrderWrites(options: Options) {
  const orderMutex = createKeyedMutex()
  const keyMutex = createKeyedMutex()
  const create = createOrderCreator({ ...options, orderMutex })
  const { apply, refresh, recordEdit } = createOrderUpdater({ ...options, orderMutex })

  function createOnce(task: WriteTask & { type: 'create' }): Promise<CreateResult> {
    const { order, by, idempotencyKey } = task
    const request = hashOrder(order)
    if (idempotencyKey === undefined) return create({ order, by, key: null, request })
    const key = hashIdempotencyKey(idempotencyKey, by)
    return keyMutex(key, () => create({ order, by, key, request }))
  }

  return {
    /** Executes a write in full or not at all. Throws WriteRejectedError. */
    async execute(task: WriteTask): Promise<WriteResult> {
      if (task.type !== 'refresh') options.requireWritable()
      try {
        switch (task.type) {
          case 'create':
            return await createOnce(task)
          case 'apply':
            return await apply(task.id, task.command, task.context)
          case 'refresh':
            await refresh(task.id)
            return { outcome: 'refreshed' }
        }
      } catch (error) {
        const errorCode = error instanceof WriteRejectedError ? error.errorCode : null
        if (errorCode === 'column_not_found' || errorCode === 'value_rejected') {
          options.onSchemaMismatch()
        }
        throw error
      }
    },
    recordEdit,
  }
}
