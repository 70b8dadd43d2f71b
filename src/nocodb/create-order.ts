import { randomUUID } from 'node:crypto'
import type { CreateResult } from '../orders/store/order-store.js'
import { createFirstVersion } from '../orders/apply-changes.js'
import { IDEMPOTENCY_KEY_TTL_MS } from '../orders/idempotency-hashes.js'
import type { NewOrder } from '../orders/order.js'
import type { Cells, ColumnTitles } from './columns.js'
import { createConfirmationAttempts, isIndeterminate, toNotWritten } from './indeterminate-write.js'
import type { KeyedMutex } from '../database/state-store/keyed-mutex.js'
import { NocoDbError } from './nocodb-error.js'
import { encodeNewOrder } from './order-record.js'
import type { OrdersTable } from './orders-table.js'
import { parseRow } from './parse-row.js'
import type { Replica } from './replica.js'
import { creationUnconfirmed, notWritten } from './write-rejection.js'

interface Options {
  table: OrdersTable
  replica: Replica
  titles: ColumnTitles
  orderMutex: KeyedMutex
  /** Called if the order number could not be written to the new row */
  onNumberNotWritten: () => void
}

interface Creation {
  order: NewOrder
  by: string
  /** Hash of the idempotency key; `null` if there is no key */
  key: string | null
  /** Hash of the request */
  request: string
}

/** Creates orders, at most one for each idempotency key. Throws WriteRejectedError. */
export function createOrderCreator({
  table,
  replica,
  titles,
  orderMutex,
  onNumberNotWritten,
}: Options) {
  /** The rows with a token, oldest first. */
  async function findRows(field: 'writeToken' | 'idempotencyKey', token: string) {
    const page = await table.findByToken(field, token)
    await replica.upsert(page)
    return page.rows
  }

  /**
   * Inserts a row and returns its id. If the response is lost, finds the row by its write token.
   */
  async function insert(cells: Cells, token: string, hasKey: boolean): Promise<number> {
    try {
      return await table.insert(cells)
    } catch (error) {
      if (!isIndeterminate(error)) throw error
    }
    const hasAttemptsLeft = createConfirmationAttempts({ isFirstDelayed: true })
    while (await hasAttemptsLeft()) {
      const [row] = await findRows('writeToken', token).catch(() => [])
      if (row !== undefined) return row.Id
    }
    throw creationUnconfirmed(hasKey)
  }

  /** The result of an earlier request with the same key; `null` if there is none. */
  async function findEarlier(key: string, request: string): Promise<CreateResult | null> {
    try {
      for (const row of await findRows('idempotencyKey', key)) {
        const result = parseRow(row, titles)
        if (!result.ok) continue
        const { parsed } = result
        if (Date.now() - Date.parse(parsed.order.createdAt) > IDEMPOTENCY_KEY_TTL_MS) {
          await table.compareAndSet(row, { [titles.idempotencyKey]: null })
          continue
        }
        if (parsed.request !== request) return { outcome: 'idempotency_key_reused' }
        return { outcome: 'replayed', order: replica.toOrder(parsed) }
      }
      return null
    } catch (error) {
      throw toNotWritten(error)
    }
  }

  /**
   * If another process has already created an order with the same key, deletes the new row and
   * returns the result of the earlier request; otherwise returns `null`.
   */
  async function resolveKeyConflict(
    id: number,
    key: string,
    request: string,
  ): Promise<CreateResult | null> {
    try {
      const [first] = await findRows('idempotencyKey', key)
      if (first === undefined || first.Id >= id) return null
      await table.delete(id)
    } catch (error) {
      throw error instanceof NocoDbError ? creationUnconfirmed(true) : error
    }
    await replica.delete([id], performance.now())
    return findEarlier(key, request)
  }

  /** Writes the order number to a new row. Until then the number is derived from the id. */
  async function writeNumber(id: number, token: string, orderNumber: string): Promise<void> {
    try {
      await table.setIfToken(id, token, { [titles.orderNumber]: orderNumber })
    } catch {
      onNumberNotWritten()
    }
  }

  /** Reads a new row; `null` if it cannot be read now. */
  async function readBack(id: number, hasKey: boolean) {
    try {
      return await table.getRow(id)
    } catch (error) {
      if (!(error instanceof NocoDbError)) throw error
      if (error.errorCode !== 'column_not_found') return null
      // NocoDB has dropped the values of the missing columns.
      await table.delete(id).catch(() => {
        throw creationUnconfirmed(hasKey)
      })
      throw notWritten(error)
    }
  }

  async function create({ order: newOrder, by, key, request }: Creation): Promise<CreateResult> {
    const token = randomUUID()
    const order = createFirstVersion(newOrder, new Date().toISOString())
    const record = { by, request: key === null ? null : request, history: [] }
    const cells = encodeNewOrder({ order, record, token }, key, titles)
    let id
    try {
      id = await insert(cells, token, key !== null)
    } catch (error) {
      // If the database enforces unique keys, another process may have created the order.
      const isConflict = error instanceof NocoDbError && error.errorCode === 'value_rejected'
      const earlier = key !== null && isConflict ? await findEarlier(key, request) : null
      if (earlier !== null) return earlier
      throw toNotWritten(error)
    }
    const insertedAt = performance.now()
    const earlier = key === null ? null : await resolveKeyConflict(id, key, request)
    if (earlier !== null) return earlier
    const read = await readBack(id, key !== null)
    // The order exists even if it cannot be read now, so it is shown as it was written.
    const { row, requestedAt } = read ?? {
      row: { ...cells, Id: id, CreatedAt: order.createdAt },
      requestedAt: insertedAt,
    }
    await replica.upsert({ rows: [row], requestedAt })
    const orderNumber = replica.getUniqueNumber(id, null)
    void orderMutex(String(id), () => writeNumber(id, token, orderNumber))
    return { outcome: 'created', order: { id: String(id), orderNumber, ...order } }
  }

  /** Creates an order, unless an order was already created with the same key. */
  return async (creation: Creation): Promise<CreateResult> => {
    const { key, request } = creation
    const earlier = key === null ? null : await findEarlier(key, request)
    return earlier ?? create(creation)
  }
}
