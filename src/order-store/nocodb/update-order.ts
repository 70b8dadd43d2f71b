import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChangeContext, ChangeResult } from '../order-store.js'
import type { ChangeOutcome } from '../../orders/apply-changes.js'
import { applyCommand, type OrderCommand } from '../../orders/order-command.js'
import { parseOrderId } from '../../orders/order-id.js'
import type { Order } from '../../orders/order.js'
import type { ColumnTitles } from './columns.js'
import { NocoDbError } from './nocodb-error.js'
import { encodeChangedOrder } from './order-cells.js'
import type { PerOrderMutex } from './per-order-mutex.js'
import { parseRecord } from './history-record.js'
import type { Cells, OrdersTable } from './orders-table.js'
import type { Replica } from './replica.js'
import type { Priority } from './request-budget.js'
import { parseRow, UNKNOWN_USER, type Row, type ParsedRow } from './parse-row.js'
import { beforeWrite, createConfirmationAttempts, isIndeterminate } from './indeterminate-write.js'
import { changeUnconfirmed, notWritten, tooBusy, WriteRejectedError } from './write-rejection.js'

interface Options {
  table: OrdersTable
  replica: Replica
  titles: ColumnTitles
  inLine: PerOrderMutex
}

/** How often an order is tried to be written where others write to it too. */
const MOST_ATTEMPTS = 10

/** A change waits this long for those of the same order before it, ms: a person waits for it. */
const PATIENCE_MS = 15_000

/** Some databases fail where they are asked for a higher id than they can have. */
const HIGHEST_ID = 2 ** 31 - 1

/** Whether a row holds what was written with a token, or what came after that. */
function holds(row: Row, token: string, titles: ColumnTitles): boolean {
  if (row[titles.writeToken] === token) return true
  return parseRecord(row[titles.record])?.history.some((entry) => entry.token === token) ?? false
}

/**
 * Writes versions of orders, each on the one before: a compare-and-set on version and time of the
 * row, told from those of others by a token that is read back. Throws WriteRefused.
 */
export function createOrderUpdater({ table, replica, titles, inLine }: Options) {
  function takeIn(row: Row, askedAt: number): void {
    replica.takeIn({ rows: [row], askedAt })
  }

  /**
   * Writes to a row as it was read. Where the answer stays out, looks what has become of it, and
   * writes the same again: only one of them can come through.
   */
  async function write(row: Row, token: string, cells: Cells, urgency: Priority): Promise<boolean> {
    let isOpen = false
    const isToLook = createConfirmationAttempts({ isFirstAtOnce: true })
    while (await isToLook()) {
      try {
        if (!(await table.compareAndSet(row, cells, urgency)) && !isOpen) return false
      } catch (error) {
        if (!isIndeterminate(error)) {
          if (!isOpen) throw error instanceof NocoDbError ? notWritten(error) : error
        } else isOpen = true
      }
      const now = await table.row(row.Id).catch(() => undefined)
      if (now === null) return false
      if (now !== undefined) {
        takeIn(now.row, now.askedAt)
        if (holds(now.row, token, titles)) return true
        // Another version is there: what is under way still cannot come through.
        if (now.row[titles.version] !== row[titles.version]) return false
        if (!isOpen) return false
      }
      isOpen = true
    }
    throw changeUnconfirmed()
  }

  /** One try: the outcome, or `null` where somebody else was faster. */
  async function attempt(
    id: number,
    { by, ifVersions }: ChangeContext,
    command: OrderCommand,
  ): Promise<ChangeResult | null> {
    const read = await beforeWrite(() => table.row(id))
    if (read === null) {
      replica.takeOut([id], performance.now())
      return { outcome: 'not_found' }
    }
    takeIn(read.row, read.askedAt)
    const reading = parseRow(read.row, titles)
    if (!reading.ok) return { outcome: 'not_found' }
    const { found } = reading
    const order = replica.orderOf(found)
    if (ifVersions !== null && !ifVersions.includes(order.version)) {
      return { outcome: 'version_conflict', order }
    }
    const changed = applyCommand(
      order,
      found.history.toReversed(),
      command,
      new Date().toISOString(),
    )
    if (changed.outcome !== 'changed') return changed
    const isWritten = await writeVersion(read.row, found, order, changed, by, 'urgent')
    return isWritten ? changed : null
  }

  function writeVersion(
    row: Row,
    found: ParsedRow,
    before: Order,
    changed: ChangeOutcome & { outcome: 'changed' },
    by: string,
    urgency: Priority,
  ): Promise<boolean> {
    const token = randomUUID()
    const { order, changes } = changed
    const entry = { at: order.updatedAt, by, version: order.version, changes, token }
    const history = order.version > before.version ? [...found.history, entry] : found.history
    const record = { by: found.by, request: found.request, history }
    return write(
      row,
      token,
      encodeChangedOrder(row, before, { order, record, token }, titles),
      urgency,
    )
  }

  async function apply(
    id: string,
    command: OrderCommand,
    context: ChangeContext,
  ): Promise<ChangeResult> {
    const key = parseOrderId(id)
    if (key === null || (key > HIGHEST_ID && replica.get(key) === null)) {
      return { outcome: 'not_found' }
    }
    const asked = performance.now()
    return inLine(id, async () => {
      if (performance.now() - asked > PATIENCE_MS) throw tooBusy()
      for (let tries = 0; tries < MOST_ATTEMPTS; tries++) {
        const outcome = await attempt(key, context, command)
        if (outcome !== null) return outcome
        await sleep(Math.random() * 50 * (tries + 1))
      }
      throw tooBusy()
    })
  }

  async function adopt(id: number): Promise<void> {
    const read = await table.row(id)
    if (read === null) return
    takeIn(read.row, read.askedAt)
    const reading = parseRow(read.row, titles)
    if (!reading.ok || !reading.found.isEdited) return
    const order = replica.orderOf(reading.found)
    const kept: ChangeOutcome = { outcome: 'changed', order, changes: [] }
    await writeVersion(read.row, reading.found, order, kept, UNKNOWN_USER, 'background')
  }

  return {
    /** Changes an order, all of it or nothing. */
    apply,
    /**
     * Writes an edit made in NocoDB down as the version that it is shown as. Where that does not
     * go well, it can be tried again.
     */
    adopt: (id: number): Promise<void> =>
      inLine(String(id), () => adopt(id)).catch((error: unknown) => {
        if (!(error instanceof NocoDbError || error instanceof WriteRejectedError)) throw error
      }),
  }
}
