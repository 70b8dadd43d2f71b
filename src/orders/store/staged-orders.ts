import { deflateSync, inflateSync } from 'node:zlib'
import { parseOrderId } from '../order-id.js'
import type { Order } from '../order.js'
import type { RecordedOrder } from './order-records.js'

/** An order to import. If its ID or order number is `null`, the import assigns one. */
export type StagedOrder = Omit<Order, 'id' | 'orderNumber'> & {
  id: string | null
  orderNumber: string | null
}

/** An ID or order number that an earlier line or an existing order already has. */
export interface ImportConflict {
  /** The later line */
  line: number
  field: 'id' | 'orderNumber'
  owner: { line: number } | { id: number; orderNumber: string }
}

type StagedRecord = Omit<RecordedOrder, 'order'> & { order: StagedOrder }

const BATCH_SIZE = 500

/** Collects the orders of one import, compressed in memory. */
export class StagedOrders {
  /** Lines by the IDs and order numbers that they claim */
  readonly ids = new Map<number, number>()
  readonly numbers = new Map<string, number>()
  count = 0
  readonly #batches: Buffer[] = []
  #batch: StagedRecord[] = []

  /** Reserves an ID and an order number for a line; returns conflicts with earlier lines. */
  claim(line: number, id: string | null, orderNumber: string | null): ImportConflict[] {
    const conflicts: ImportConflict[] = []
    const key = id === null ? null : parseOrderId(id)
    if (key !== null) {
      const owner = this.ids.get(key)
      if (owner === undefined) this.ids.set(key, line)
      else conflicts.push({ line, field: 'id', owner: { line: owner } })
    }
    if (orderNumber !== null) {
      const owner = this.numbers.get(orderNumber)
      if (owner === undefined) this.numbers.set(orderNumber, line)
      else conflicts.push({ line, field: 'orderNumber', owner: { line: owner } })
    }
    return conflicts
  }

  /** Adds an order; call `claim` before. */
  add(record: StagedRecord): void {
    this.count++
    this.#batch.push(record)
    if (this.#batch.length < BATCH_SIZE) return
    this.#batches.push(deflateSync(JSON.stringify(this.#batch)))
    this.#batch = []
  }

  *readBatches(): Generator<StagedRecord[]> {
    for (const batch of this.#batches) {
      yield JSON.parse(inflateSync(batch).toString()) as StagedRecord[]
    }
    if (this.#batch.length > 0) yield this.#batch
  }
}
