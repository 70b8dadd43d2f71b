import { randomUUID } from 'node:crypto'
import type { CreateResult } from '../order-store.js'
import { createFirstVersion } from '../../orders/apply-changes.js'
import type { NewOrder } from '../../orders/order.js'
import type { ColumnTitles } from './columns.js'
import { NocoDbError } from './nocodb-error.js'
import { encodeNewOrder } from './order-cells.js'
import type { PerOrderMutex } from './per-order-mutex.js'
import type { Cells, OrdersTable } from './orders-table.js'
import type { Replica } from './replica.js'
import { parseRow } from './parse-row.js'
import { beforeWrite, createConfirmationAttempts, isIndeterminate } from './indeterminate-write.js'
import { creationUnconfirmed, notWritten } from './write-rejection.js'
import { IDEMPOTENCY_KEY_TTL_MS } from '../../orders/idempotency.js'

interface Options {
  table: OrdersTable
  replica: Replica
  titles: ColumnTitles
  inLine: PerOrderMutex
  /** Is told where a new row was not given its number */
  onUnnumbered: () => void
}

/** What is asked for, and by whom. */
interface Entry {
  given: NewOrder
  by: string
  /** Digest of the idempotency key; `null` without one */
  key: string | null
  /** Digest of what is asked for */
  request: string
}

/** Enters orders, and those with an idempotency key once, whatever becomes of answers. Throws WriteRefused. */
export function createOrderCreator({ table, replica, titles, inLine, onUnnumbered }: Options) {
  /** The row with a mark, where there is one: of several the first. */
  async function marked(field: 'writeToken' | 'idempotencyKey', mark: string) {
    const page = await table.marked(field, mark)
    replica.takeIn(page)
    return page.rows
  }

  /** The id of the row that was entered with a token; throws where that is not known. */
  async function insert(cells: Cells, token: string, hasKey: boolean): Promise<number> {
    try {
      return await table.insert(cells)
    } catch (error) {
      if (!isIndeterminate(error)) throw error
    }
    const isToLook = createConfirmationAttempts({ isFirstAtOnce: false })
    while (await isToLook()) {
      const rows = await marked('writeToken', token).catch(() => [])
      const [row] = rows
      if (row !== undefined) return row.Id
    }
    throw creationUnconfirmed(hasKey)
  }

  /** An order that was entered with a key before; `null` where there is none any more. */
  async function earlier(key: string, request: string): Promise<CreateResult | null> {
    const rows = await beforeWrite(() => marked('idempotencyKey', key))
    for (const row of rows) {
      const reading = parseRow(row, titles)
      if (!reading.ok) continue
      const { found } = reading
      if (Date.now() - Date.parse(found.order.createdAt) > IDEMPOTENCY_KEY_TTL_MS) {
        await beforeWrite(() => table.compareAndSet(row, { [titles.idempotencyKey]: null }))
        continue
      }
      if (found.request !== request) return { outcome: 'idempotency_key_reused' }
      return { outcome: 'replayed', order: replica.orderOf(found) }
    }
    return null
  }

  /** Of several processes that have entered an order with one key, the first keeps it. */
  async function settleKey(id: number, key: string, request: string): Promise<CreateResult | null> {
    try {
      const [first] = await marked('idempotencyKey', key)
      if (first === undefined || first.Id >= id) return null
      await table.remove(id)
    } catch (error) {
      throw error instanceof NocoDbError ? creationUnconfirmed(true) : error
    }
    replica.takeOut([id], performance.now())
    return earlier(key, request)
  }

  /** Writes the number that people see into a new row; until then, and where it fails, it follows from the id. */
  async function number(id: number, token: string, orderNumber: string): Promise<void> {
    try {
      await table.setAfter(id, token, { [titles.orderNumber]: orderNumber })
    } catch {
      onUnnumbered()
    }
  }

  /** The row of a new order; `null` where it cannot be read at the moment. */
  async function readBack(id: number, hasKey: boolean) {
    try {
      return await table.row(id)
    } catch (error) {
      if (!(error instanceof NocoDbError)) throw error
      if (error.trouble !== 'no such column') return null
      // Part of what was to be entered has been dropped.
      await table.remove(id).catch(() => {
        throw creationUnconfirmed(hasKey)
      })
      throw notWritten(error)
    }
  }

  async function enter({ given, by, key, request }: Entry): Promise<CreateResult> {
    const token = randomUUID()
    const order = createFirstVersion(given, new Date().toISOString())
    const record = { by, request: key === null ? null : request, history: [] }
    const cells = encodeNewOrder({ order, record, token }, key, titles)
    let id
    try {
      id = await insert(cells, token, key !== null)
    } catch (error) {
      // Where the database keeps keys unique, another process was faster.
      const other =
        key !== null && error instanceof NocoDbError && error.trouble === 'value refused'
          ? await earlier(key, request)
          : null
      if (other !== null) return other
      throw error instanceof NocoDbError ? notWritten(error) : error
    }
    const enteredAt = performance.now()
    const other = key === null ? null : await settleKey(id, key, request)
    if (other !== null) return other
    const read = await readBack(id, key !== null)
    // It is entered: whoever did so sees it though NocoDB does not give it back yet.
    const asEntered = { ...cells, Id: id, CreatedAt: order.createdAt }
    replica.takeIn(
      read === null
        ? { rows: [asEntered], askedAt: enteredAt }
        : { rows: [read.row], askedAt: read.askedAt },
    )
    const orderNumber = replica.numberOf(id, null)
    void inLine(String(id), () => number(id, token, orderNumber))
    return { outcome: 'created', order: { id: String(id), orderNumber, ...order } }
  }

  /** Enters an order, unless one was entered with its key. */
  return async (entry: Entry): Promise<CreateResult> => {
    const { key, request } = entry
    const known = key === null ? null : await earlier(key, request)
    return known ?? enter(entry)
  }
}
