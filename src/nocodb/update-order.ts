import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChangeContext, ChangeResult } from '../orders/store/order-store.js'
import type { ChangeOutcome } from '../orders/apply-changes.js'
import { applyCommand, erasesHistory, type OrderCommand } from '../orders/order-command.js'
import { toErasedChanges } from '../orders/erasure.js'
import { parseOrderId } from '../orders/order-id.js'
import type { HistoryEntry, Order } from '../orders/order.js'
import type { Cells, ColumnTitles, Row } from './columns.js'
import { createConfirmationAttempts, isIndeterminate, toNotWritten } from './indeterminate-write.js'
import type { KeyedMutex } from '../database/state-store/keyed-mutex.js'
import { NocoDbError } from './nocodb-error.js'
import { encodeChangedOrder, parseRecord } from './order-record.js'
import type { OrdersTable } from './orders-table.js'
import { NOCODB_USER, parseRow, type ParsedRow } from './parse-row.js'
import type { Replica } from './replica.js'
import type { Priority } from './request-budget.js'
import { changeUnconfirmed, notRead, tooBusy, WriteRejectedError } from './write-rejection.js'

interface Options {
  table: OrdersTable
  replica: Replica
  titles: ColumnTitles
  orderMutex: KeyedMutex
}

/** Maximum number of attempts to change an order that is also being changed by others. */
const MAX_ATTEMPTS = 10

/** How long a change waits for earlier changes to the same order, ms. */
const MAX_WAIT_MS = 15_000

/** PostgreSQL fails if it is queried for a higher id than the type of the column can hold. */
const MAX_ID = 2 ** 31 - 1

const eraseHistory = ({ history }: ParsedRow): HistoryEntry[] =>
  history.map((entry) => ({ ...entry, changes: toErasedChanges(entry.changes) }))

/** Whether a row contains the write with a token, or a later write based on it. */
const containsWrite = (row: Row, token: string, titles: ColumnTitles): boolean =>
  row[titles.writeToken] === token ||
  (parseRecord(row[titles.record])?.history.some((entry) => entry.token === token) ?? false)

/**
 * Writes versions of orders with optimistic locking: a compare-and-set on the version and the time
 * of update, confirmed by reading the write token. Throws WriteRejectedError.
 */
export function createOrderUpdater({ table, replica, titles, orderMutex }: Options) {
  /**
   * Updates a row; returns `false` on a conflict. If the response is lost, reads the row and
   * retries. This is safe, because only one of several compare-and-sets can succeed.
   */
  async function write(row: Row, token: string, cells: Cells, priority: Priority) {
    let isUnconfirmed = false
    const hasAttemptsLeft = createConfirmationAttempts({ isFirstDelayed: false })
    while (await hasAttemptsLeft()) {
      try {
        if (!(await table.compareAndSet(row, cells, priority)) && !isUnconfirmed) return false
      } catch (error) {
        if (isIndeterminate(error)) isUnconfirmed = true
        else if (!isUnconfirmed) throw toNotWritten(error)
      }
      const current = await table.getRow(row.Id).catch(() => undefined)
      if (current === null) return false
      if (current !== undefined) {
        await replica.upsert({ rows: [current.row], requestedAt: current.requestedAt })
        if (containsWrite(current.row, token, titles)) return true
        // If the version has changed, a write that is still in progress cannot succeed.
        const isSuperseded = current.row[titles.version] !== row[titles.version]
        if (isSuperseded || !isUnconfirmed) return false
      }
      isUnconfirmed = true
    }
    throw changeUnconfirmed()
  }

  function writeVersion(
    row: Row,
    { by: createdBy, request, history }: ParsedRow,
    before: Order,
    { order, changes }: Pick<ChangeOutcome & { outcome: 'changed' }, 'order' | 'changes'>,
    by: string,
    priority: Priority,
  ): Promise<boolean> {
    const token = randomUUID()
    const entry = { at: order.updatedAt, by, version: order.version, changes, token }
    const isNewVersion = order.version > before.version
    const record = {
      by: createdBy,
      request,
      history: [...history, ...(isNewVersion ? [entry] : [])],
    }
    const cells = encodeChangedOrder(row, before, { order, record, token }, titles)
    return write(row, token, cells, priority)
  }

  /** Reads the current row of an order; `null` if it does not exist or is not a valid order. */
  async function readOrder(id: number) {
    const current = await table.getRow(id)
    if (current === null) {
      await replica.delete([id], performance.now())
      return null
    }
    const { row, requestedAt } = current
    await replica.upsert({ rows: [row], requestedAt })
    const result = parseRow(row, titles)
    if (!result.ok) return null
    return { row, parsed: result.parsed, order: replica.toOrder(result.parsed) }
  }

  /** Returns the ID of the row of an order; `null` if no row can have it. */
  async function parseRowId(id: string): Promise<number | null> {
    const rowId = parseOrderId(id)
    if (rowId === null || rowId <= MAX_ID) return rowId
    return (await replica.get(rowId)) === null ? null : rowId
  }

  /** Attempts a change once; `null` on a conflict with a concurrent write. */
  async function attemptChange(
    id: number,
    { by, ifVersions }: ChangeContext,
    command: OrderCommand,
  ): Promise<ChangeResult | null> {
    const read = await readOrder(id).catch((error: unknown) => {
      throw toNotWritten(error)
    })
    if (read === null) return { outcome: 'not_found' }
    const { row, parsed, order } = read
    if (ifVersions !== null && !ifVersions.includes(order.version)) {
      return { outcome: 'version_conflict', order }
    }
    const history = parsed.history.toReversed()
    const result = applyCommand(order, history, command, new Date().toISOString())
    if (result.outcome !== 'changed') return result
    const kept = erasesHistory(command) ? { ...parsed, history: eraseHistory(parsed) } : parsed
    return (await writeVersion(row, kept, order, result, by, 'urgent')) ? result : null
  }

  return {
    /** Applies a command to an order, in full or not at all. */
    apply: async (
      id: string,
      command: OrderCommand,
      context: ChangeContext,
    ): Promise<ChangeResult> => {
      const rowId = await parseRowId(id)
      if (rowId === null) return { outcome: 'not_found' }
      const queuedAt = performance.now()
      return orderMutex(id, async () => {
        if (performance.now() - queuedAt > MAX_WAIT_MS) throw tooBusy()
        for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
          const result = await attemptChange(rowId, context, command)
          if (result !== null) return result
          await sleep(Math.random() * 50 * attempt)
        }
        throw tooBusy()
      })
    },
    /** Reads the current row of an order into the replica. */
    refresh: async (id: string): Promise<void> => {
      const rowId = await parseRowId(id)
      if (rowId === null) return
      await readOrder(rowId).catch((error: unknown) => {
        throw error instanceof NocoDbError ? notRead(error) : error
      })
    },
    /**
     * Records an edit made in NocoDB as a version of the order. Ignores failed requests, because
     * the next sync pass tries again.
     */
    recordEdit: async (id: number): Promise<void> => {
      try {
        await orderMutex(String(id), async () => {
          const read = await readOrder(id)
          if (!read?.parsed.isEdited) return
          const { row, parsed, order } = read
          const version = { order, changes: [] }
          await writeVersion(row, parsed, order, version, NOCODB_USER, 'background')
        })
      } catch (error) {
        if (!(error instanceof NocoDbError || error instanceof WriteRejectedError)) throw error
      }
    },
  }
}
