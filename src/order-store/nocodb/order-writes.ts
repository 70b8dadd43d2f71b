import type { ChangeContext, ChangeResult, CreateResult } from '../sqlite/sqlite-order-store.js'
import { hashIdempotencyKey, hashOrder } from '../../orders/idempotency.js'
import { cancelOrder, applyChanges, undoLastChange } from '../../orders/apply-changes.js'
import type { NewOrder } from '../../orders/order.js'
import { applyAttempt } from '../../fulfilment/attempt.js'
import type { ColumnTitles } from './columns.js'
import { createOrderCreator } from './create-order.js'
import { createKeyedMutex } from './keyed-mutex.js'
import type { OrdersTable } from './orders-table.js'
import type { WriteCommand, WriteResult } from './replica-messages.js'
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
  const { requireWritable, onSchemaMismatch } = options
  const orderMutex = createKeyedMutex()
  const keyMutex = createKeyedMutex()
  const create = createOrderCreator({ ...options, orderMutex })
  const { change, recordEdit } = createOrderUpdater({ ...options, orderMutex })

  function createOnce(order: NewOrder, by: string, idempotencyKey?: string): Promise<CreateResult> {
    const request = hashOrder(order)
    if (idempotencyKey === undefined) return create({ order, by, key: null, request })
    const key = hashIdempotencyKey(idempotencyKey, by)
    return keyMutex(key, () => create({ order, by, key, request }))
  }

  function run(command: WriteCommand): Promise<WriteResult> {
    switch (command.type) {
      case 'create':
        return createOnce(command.order, command.by, command.idempotencyKey)
      case 'change':
        return change(command.id, command.context, (order, _history, now) =>
          applyChanges(order, command.changes, now),
        )
      case 'cancel':
        return change(command.id, command.context, (order, _history, now) =>
          cancelOrder(order, now),
        )
      case 'undo':
        return change(command.id, command.context, undoLastChange)
      case 'notePlacement':
        return change(command.id, command.context, (order, history, now) =>
          applyAttempt(order, history, command.step, now),
        )
    }
  }

  return {
    /** Executes a write completely or not at all. Throws WriteRejectedError. */
    async execute(command: WriteCommand): Promise<WriteResult> {
      requireWritable()
      try {
        return await run(command)
      } catch (error) {
        const errorCode = error instanceof WriteRejectedError ? error.errorCode : null
        if (errorCode === 'column_not_found' || errorCode === 'value_rejected') onSchemaMismatch()
        throw error
      }
    },
    recordEdit,
  }
}
