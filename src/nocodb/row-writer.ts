import { setTimeout as sleep } from 'node:timers/promises'
import type { Problem } from '../core/http/problem.js'
import type { Order } from '../orders/order.js'
import type { Cells, ColumnTitles, Row } from './columns.js'
import type { Mirror, RowsRead } from './mirror.js'
import { changeUnconfirmed, creationUnconfirmed, NocoDbError } from './nocodb-client.js'
import { parseRecord } from './order-record.js'
import type { OrdersTable } from './orders-table.js'
import { parseRow, type ParsedRow } from './parse-row.js'
import type { Priority } from './request-budget.js'

const MAX_ATTEMPTS = 4
const ATTEMPT_DELAY_MS = 250
/** After this time, no further attempt is made, because the user is waiting. */
const MAX_CONFIRMATION_MS = 10_000

/** The order in a row, as it is mirrored. */
export interface RowOrder {
  row: Row
  parsed: ParsedRow
  order: Order
}

const isIndeterminate = (error: unknown): boolean =>
  error instanceof NocoDbError && error.isIndeterminate

/** Whether a row contains the write with a token, or a later write based on it. */
const containsWrite = (row: Row, token: string, titles: ColumnTitles): boolean =>
  row[titles.writeToken] === token ||
  (parseRecord(row[titles.record])?.history.some((entry) => entry.token === token) ?? false)

/**
 * Reads and writes single rows; what it reads is mirrored at once. If the response to a write is
 * lost, reads the outcome. Throws NocoDbError if nothing was written, and a Problem (503) if that is
 * unknown.
 */
export class RowWriter {
  readonly titles: ColumnTitles

  constructor(
    readonly table: OrdersTable,
    readonly mirror: Mirror,
  ) {
    this.titles = mirror.titles
  }

  /** The rows with a token, oldest first. */
  async findRows(field: 'writeToken' | 'idempotencyKey', token: string): Promise<Row[]> {
    const page = await this.table.findByToken(field, token)
    await this.mirror.upsert(page)
    return page.rows
  }

  /** The order in a row; `null` if the row is not a valid order. */
  async toOrder(row: Row): Promise<RowOrder | null> {
    const result = parseRow(row, this.titles)
    const mirrored = result.ok ? await this.mirror.get(row.Id) : null
    if (!result.ok || mirrored === null) return null
    const { parsed } = result
    return { row, parsed, order: { ...parsed.order, orderNumber: mirrored.orderNumber } }
  }

  /** Reads the current row of an order; `null` if it does not exist or is not a valid order. */
  async readOrder(id: number): Promise<RowOrder | null> {
    const requestedAt = await this.mirror.now()
    const row = await this.table.getRow(id)
    if (row === null) {
      await this.mirror.delete([id], requestedAt)
      return null
    }
    await this.mirror.upsert({ rows: [row], requestedAt })
    return this.toOrder(row)
  }

  /** Mirrors a row that was just written. If that fails, the next sync pass mirrors it. */
  async mirrorWritten(read: RowsRead, toProblem: (cause: unknown) => Problem): Promise<void> {
    try {
      await this.mirror.upsert(read)
    } catch (error) {
      throw toProblem(error)
    }
  }

  /** Inserts a row and returns its id. */
  async insert(cells: Cells, token: string, hasKey: boolean): Promise<number> {
    try {
      return await this.table.insert(cells)
    } catch (error) {
      if (!isIndeterminate(error)) throw error
    }
    const deadline = performance.now() + MAX_CONFIRMATION_MS
    for (let tries = 0; tries < MAX_ATTEMPTS && performance.now() < deadline; tries++) {
      await sleep(ATTEMPT_DELAY_MS * (0.5 + Math.random()))
      const [row] = await this.findRows('writeToken', token).catch(() => [])
      if (row !== undefined) return row.Id
    }
    throw creationUnconfirmed(hasKey)
  }

  /**
   * Updates a row; returns `false` on a conflict. If the response is lost, reads the row and tries
   * again. This is safe, because only one of several compare-and-sets can succeed.
   */
  async update(row: Row, token: string, cells: Cells, priority: Priority): Promise<boolean> {
    const { table, titles } = this
    let isUnconfirmed = false
    const deadline = performance.now() + MAX_CONFIRMATION_MS
    for (let tries = 0; tries < MAX_ATTEMPTS && performance.now() < deadline; tries++) {
      if (tries > 0) await sleep(ATTEMPT_DELAY_MS * (0.5 + Math.random()))
      try {
        if (!(await table.compareAndSet(row, cells, priority)) && !isUnconfirmed) return false
      } catch (error) {
        if (isIndeterminate(error)) isUnconfirmed = true
        else if (!isUnconfirmed) throw error
      }
      const requestedAt = await this.mirror.now()
      const current = await table.getRow(row.Id).catch(() => undefined)
      if (current === null) return false
      if (current !== undefined) {
        await this.mirrorWritten({ rows: [current], requestedAt }, changeUnconfirmed)
        if (containsWrite(current, token, titles)) return true
        // If the version has changed, a write that is still in progress cannot succeed.
        const isSuperseded = current[titles.version] !== row[titles.version]
        if (isSuperseded || !isUnconfirmed) return false
      }
      isUnconfirmed = true
    }
    throw changeUnconfirmed()
  }
}
