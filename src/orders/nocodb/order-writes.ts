import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChangeContext, ChangeOutcome, CreateOutcome } from '../book/order-book.js'
import { cancelledOrder, changedOrder, firstVersion, type Changed } from '../order-changes.js'
import { parseOrderId } from '../order-id.js'
import type { NewOrder, Order, OrderChanges } from '../order.js'
import type { ColumnTitles } from './columns.js'
import { NocoDbError } from './nocodb-error.js'
import { changedCells, newCells } from './order-cells.js'
import { orderLine } from './order-line.js'
import { readRecord } from './order-record.js'
import type { Cells, OrdersTable } from './orders-table.js'
import type { Replica } from './replica.js'
import { orderOfRow, SOMEBODY, type Row, type RowOrder } from './row-order.js'
import type { Urgency } from './request-budget.js'
import {
  changeUnknown,
  entryUnknown,
  nothingChanged,
  notLoaded,
  tooBusy,
  WriteRefused,
} from './write-refusal.js'

interface Options {
  table: OrdersTable
  replica: Replica
  titles: ColumnTitles
  /** Whether the table and the copy are ready for it */
  canWrite: () => boolean
  onUnnumbered: (error: unknown) => void
}

/** How often an order is tried to be written where others write to it too. */
const MOST_ATTEMPTS = 10
/** How often it is looked up what became of a write that was not answered. */
const MOST_LOOKS = 4
const LOOK_AGAIN_MS = 250

/** Some databases fail where they are asked for a higher id than they can have. */
const HIGHEST_ID = 2 ** 31 - 1

const KEYS_LAST_MS = 30 * 24 * 60 * 60 * 1000

/** As the embedded book has it: the same request gives the same digest anywhere. */
const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url')

/** Whether a row holds what was written with a token, or what came after that. */
function holds(row: Row, token: string, titles: ColumnTitles): boolean {
  if (row[titles.writeToken] === token) return true
  return readRecord(row[titles.record])?.history.some((entry) => entry.token === token) ?? false
}

const aMoment = (): Promise<void> => sleep(LOOK_AGAIN_MS * (0.5 + Math.random()))

/** Whether a write may have been done though it failed. */
const mayBeDone = (error: unknown): error is NocoDbError =>
  error instanceof NocoDbError && error.mayBeDone

/**
 * Writes orders to NocoDB, each write all or nothing, and then into the copy. Throws WriteRefused.
 */
export function orderWrites({ table, replica, titles, canWrite, onUnnumbered }: Options) {
  const inLine = orderLine()
  const keysInLine = orderLine()

  /** Nothing has been written yet. */
  async function before<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      throw error instanceof NocoDbError ? nothingChanged(error) : error
    }
  }

  function takeIn(row: Row, askedAt: number): void {
    replica.takeIn({ rows: [row], askedAt })
  }

  /**
   * Writes to a row as it was read. Where the answer stays out, looks what has become of it, and
   * writes the same again: only one of them can come through.
   */
  async function write(row: Row, token: string, cells: Cells, urgency: Urgency): Promise<boolean> {
    let isOpen = false
    for (let look = 0; look < MOST_LOOKS; look++) {
      if (look > 0) await aMoment()
      try {
        if (!(await table.compareAndSet(row, cells, urgency)) && !isOpen) return false
      } catch (error) {
        if (!mayBeDone(error)) {
          if (!isOpen) throw error instanceof NocoDbError ? nothingChanged(error) : error
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
    throw changeUnknown()
  }

  type Apply = (order: Order, now: string) => Changed

  /** One try: the outcome, or `null` where somebody else was faster. */
  async function attempt(
    id: number,
    { by, ifVersions }: ChangeContext,
    apply: Apply,
    urgency: Urgency,
  ): Promise<ChangeOutcome | null> {
    const read = await before(() => table.row(id))
    if (read === null) {
      replica.takeOut([id], performance.now())
      return { outcome: 'no such order' }
    }
    takeIn(read.row, read.askedAt)
    const reading = orderOfRow(read.row, titles)
    if (!reading.ok) return { outcome: 'no such order' }
    const { found } = reading
    const order = replica.orderOf(found)
    if (ifVersions !== null && !ifVersions.includes(order.version)) {
      return { outcome: 'stale', order }
    }
    const changed = apply(order, new Date().toISOString())
    if (changed.outcome !== 'changed') return changed
    const isWritten = await writeVersion(read.row, found, order, changed, by, urgency)
    return isWritten ? changed : null
  }

  function writeVersion(
    row: Row,
    found: RowOrder,
    before: Order,
    changed: Changed & { outcome: 'changed' },
    by: string,
    urgency: Urgency,
  ): Promise<boolean> {
    const token = randomUUID()
    const { order, changes } = changed
    const entry = { at: order.updatedAt, by, version: order.version, changes, token }
    const history = order.version > before.version ? [...found.history, entry] : found.history
    const record = { by: found.by, request: found.request, history }
    return write(row, token, changedCells(row, before, { order, record, token }, titles), urgency)
  }

  async function change(
    id: string,
    context: ChangeContext,
    apply: Apply,
    urgency: Urgency = 'urgent',
  ): Promise<ChangeOutcome> {
    if (!canWrite()) throw notLoaded()
    const key = parseOrderId(id)
    if (key === null || (key > HIGHEST_ID && replica.get(key) === null)) {
      return { outcome: 'no such order' }
    }
    return inLine(id, async () => {
      for (let tries = 0; tries < MOST_ATTEMPTS; tries++) {
        const outcome = await attempt(key, context, apply, urgency)
        if (outcome !== null) return outcome
        await sleep(Math.random() * 50 * (tries + 1))
      }
      throw tooBusy()
    })
  }

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
      if (!mayBeDone(error)) throw error
    }
    for (let look = 0; look < MOST_LOOKS; look++) {
      await aMoment()
      const rows = await marked('writeToken', token).catch(() => [])
      const [row] = rows
      if (row !== undefined) return row.Id
    }
    throw entryUnknown(hasKey)
  }

  /** An order that was entered with a key before; `null` where there is none any more. */
  async function earlier(key: string, request: string): Promise<CreateOutcome | null> {
    const rows = await before(() => marked('idempotencyKey', key))
    for (const row of rows) {
      const reading = orderOfRow(row, titles)
      if (!reading.ok) continue
      const { found } = reading
      if (Date.now() - Date.parse(found.order.createdAt) > KEYS_LAST_MS) {
        await before(() => table.compareAndSet(row, { [titles.idempotencyKey]: null }))
        continue
      }
      if (found.request !== request) return { outcome: 'key reused' }
      return { outcome: 'repeated', order: replica.orderOf(found) }
    }
    return null
  }

  /** Of several processes that have entered an order with one key, the first keeps it. */
  async function settleKey(
    id: number,
    key: string,
    request: string,
  ): Promise<CreateOutcome | null> {
    try {
      const [first] = await marked('idempotencyKey', key)
      if (first === undefined || first.Id >= id) return null
      await table.remove(id)
    } catch (error) {
      throw error instanceof NocoDbError ? entryUnknown(true) : error
    }
    replica.takeOut([id], performance.now())
    return earlier(key, request)
  }

  /** Writes the number that people see into a new row; until then, and where it fails, it follows from the id. */
  async function number(id: number, token: string, orderNumber: string): Promise<void> {
    try {
      await table.setAfter(id, token, { [titles.orderNumber]: orderNumber })
    } catch (error) {
      onUnnumbered(error)
    }
  }

  async function enter(
    given: NewOrder,
    by: string,
    key: string | null,
    request: string,
  ): Promise<CreateOutcome> {
    const token = randomUUID()
    const order = firstVersion(given, new Date().toISOString())
    const record = { by, request: key === null ? null : request, history: [] }
    let id
    try {
      id = await insert(newCells({ order, record, token }, key, titles), token, key !== null)
    } catch (error) {
      // Where the database keeps keys unique, another process was faster.
      const other =
        key !== null && error instanceof NocoDbError && error.trouble === 'value refused'
          ? await earlier(key, request)
          : null
      if (other !== null) return other
      throw error instanceof NocoDbError ? nothingChanged(error) : error
    }
    const other = key === null ? null : await settleKey(id, key, request)
    if (other !== null) return other
    try {
      const read = await table.row(id)
      if (read !== null) takeIn(read.row, read.askedAt)
    } catch (error) {
      // It is entered; the copy takes it in as soon as NocoDB answers again.
      if (!(error instanceof NocoDbError)) throw error
    }
    const orderNumber = replica.numberOf(id, null)
    void inLine(String(id), () => number(id, token, orderNumber))
    return { outcome: 'created', order: { id: String(id), orderNumber, ...order } }
  }

  return {
    /** Enters an order. The same key and order again, from the same person, gives the one that is there. */
    async create(given: NewOrder, by: string, idempotencyKey?: string): Promise<CreateOutcome> {
      if (!canWrite()) throw notLoaded()
      const request = digest(given)
      if (idempotencyKey === undefined) return enter(given, by, null, request)
      const key = digest([by, idempotencyKey])
      return keysInLine(
        key,
        async () => (await earlier(key, request)) ?? (await enter(given, by, key, request)),
      )
    },
    /** Changes an order, all of it or nothing. */
    change: (id: string, changes: OrderChanges, context: ChangeContext) =>
      change(id, context, (order, now) => changedOrder(order, changes, now)),
    /** Calls an order off; the record stays. */
    cancel: (id: string, context: ChangeContext) => change(id, context, cancelledOrder),
    /**
     * Writes an edit made in NocoDB down as the version that it is shown as. Where that does not
     * go well, it can be tried again.
     */
    adopt: (id: number): Promise<void> =>
      inLine(String(id), () => adopt(id)).catch((error: unknown) => {
        if (!(error instanceof NocoDbError || error instanceof WriteRefused)) throw error
      }),
  }

  async function adopt(id: number): Promise<void> {
    const read = await table.row(id)
    if (read === null) return
    takeIn(read.row, read.askedAt)
    const reading = orderOfRow(read.row, titles)
    if (!reading.ok || !reading.found.isEdited) return
    const order = replica.orderOf(reading.found)
    const kept: Changed = { outcome: 'changed', order, changes: [] }
    await writeVersion(read.row, reading.found, order, kept, SOMEBODY, 'background')
  }
}

export type OrderWrites = ReturnType<typeof orderWrites>
