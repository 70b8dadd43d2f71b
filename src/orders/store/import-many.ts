import { deflateSync, inflateSync } from 'node:zlib'
import { createDayCalendar } from '../../core/formatting/day-calendar.js'
import type { Database, Queryable } from '../../database/database.js'
import {
  formatOrderNumber,
  MAX_IMPORTED_ID,
  ORDER_NUMBER_PREFIX,
  parseOrderId,
  type Order,
} from '../order.js'
import { DIALECTS, type Dialect } from './dialect.js'
import { addMany, type RecordedOrder } from './order-records.js'
import { rewindProjections } from './projections.js'
import { readTimeZone } from './store-settings.js'
import { addTotals, TotalsSum } from './totals.js'

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

const STAGED_ROWS = 500

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
    if (this.#batch.length < STAGED_ROWS) return
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

/** The first conflicts by line, and their number; none after a successful import. */
interface ImportConflicts {
  first: ImportConflict[]
  total: number
}

interface Options {
  /** Maximum number of conflicts to return */
  maxConflicts: number
  /** Called with a description of each phase */
  onPhase?: (phase: string) => void
}

const BATCH_SIZE = 1_000

function* split<T>(values: readonly T[]): Generator<T[]> {
  for (let start = 0; start < values.length; start += BATCH_SIZE) {
    yield values.slice(start, start + BATCH_SIZE)
  }
}

/** Finds conflicts of staged orders with existing orders. */
export async function findConflicts(
  tx: Queryable,
  { isOneOf }: Dialect,
  { ids, numbers }: Pick<StagedOrders, 'ids' | 'numbers'>,
  max: number,
): Promise<ImportConflicts> {
  const conflicts: ImportConflict[] = []
  const find = ({ sql, values }: ReturnType<typeof isOneOf>) =>
    tx.query<{ id: number; orderNumber: string }>(
      `SELECT id, order_number AS "orderNumber" FROM orders WHERE ${sql}`,
      values,
    )
  for (const batch of split([...ids.keys()])) {
    for (const owner of await find(isOneOf('id', batch))) {
      conflicts.push({ line: ids.get(owner.id) ?? 0, field: 'id', owner })
    }
  }
  for (const batch of split([...numbers.keys()])) {
    for (const owner of await find(isOneOf('order_number', batch))) {
      const line = numbers.get(owner.orderNumber) ?? 0
      conflicts.push({ line, field: 'orderNumber', owner })
    }
  }
  conflicts.sort((a, b) => a.line - b.line || (a.field < b.field ? -1 : 1))
  return { first: conflicts.slice(0, max), total: conflicts.length }
}

const NUMBER = new RegExp(`^${ORDER_NUMBER_PREFIX}(\\d+)$`)

/**
 * The number in `CW-000042`; 0 for numbers in other formats, and above MAX_IMPORTED_ID, because
 * another system must have assigned them.
 */
export function parseOrderNumber(orderNumber: string): number {
  const number = Number(NUMBER.exec(orderNumber)?.[1] ?? 0)
  return number <= MAX_IMPORTED_ID ? number : 0
}

/** Whether an order has this number: those above MAX_IMPORTED_ID are not counted when imported. */
async function isTaken(tx: Queryable, { numbers }: StagedOrders, number: number): Promise<boolean> {
  if (number <= MAX_IMPORTED_ID) return false
  const orderNumber = formatOrderNumber(number)
  if (numbers.has(orderNumber)) return true
  return (await tx.query('SELECT 1 FROM orders WHERE order_number = ?', [orderNumber])).length > 0
}

/** The lowest ID and order number above all existing and staged ones. */
async function findNextNumbers(tx: Queryable, dialect: Dialect, { ids, numbers }: StagedOrders) {
  const [highest] = await tx.query<{ id: number }>('SELECT coalesce(max(id), 0) AS id FROM orders')
  const [next] = await tx.query<{ number: number }>(dialect.next)
  let [nextId, nextNumber] = [(highest?.id ?? 0) + 1, next?.number ?? 1]
  for (const id of ids.keys()) nextId = Math.max(nextId, id + 1)
  for (const orderNumber of numbers.keys()) {
    nextNumber = Math.max(nextNumber, parseOrderNumber(orderNumber) + 1)
  }
  return { nextId, nextNumber }
}

/**
 * Imports all staged orders or, if there are conflicts, none, in one transaction, with search texts,
 * totals and history. Meanwhile, others can read orders but not write them.
 */
export function importMany(
  database: Database,
  staged: StagedOrders,
  { maxConflicts, onPhase = () => undefined }: Options,
): Promise<ImportConflicts> {
  const dialect = DIALECTS[database.engine]
  return database.migrate(async (tx) => {
    onPhase('checking for conflicts')
    await dialect.lockTable(tx, 'orders')
    const conflicts = await findConflicts(tx, dialect, staged, maxConflicts)
    if (conflicts.total > 0) return conflicts

    onPhase('copying orders')
    let { nextId, nextNumber } = await findNextNumbers(tx, dialect, staged)
    let firstId = nextId
    const totals = new TotalsSum(createDayCalendar(await readTimeZone(tx)))
    for (const batch of staged.readBatches()) {
      const records = []
      for (const { order, by, history } of batch) {
        const id = order.id ?? String(nextId++)
        firstId = Math.min(firstId, Number(id))
        if (order.orderNumber === null) {
          while (await isTaken(tx, staged, nextNumber)) nextNumber++
        }
        const orderNumber = order.orderNumber ?? formatOrderNumber(nextNumber++)
        records.push({ order: { ...order, id, orderNumber }, by, history })
      }
      await addMany(tx, dialect, records, totals)
    }
    await dialect.continueNumbers(tx, nextNumber)
    await rewindProjections(tx, dialect, firstId)
    onPhase('updating statistics')
    await addTotals(tx, totals)
    onPhase('writing to disk')
    return conflicts
  })
}
