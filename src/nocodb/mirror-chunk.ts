import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { insertRows, type Queryable } from '../database/database.js'
import { REQUIRE_REWRITE } from '../database/rewrite-file.js'
import { listVersions } from '../orders/accepted-terms.js'
import { ERASURE_FIELD, isErased } from '../orders/erase-order.js'
import { formatOrderNumber, type Order } from '../orders/order.js'
import { DIALECTS, type Dialect } from '../orders/store/dialect.js'
import {
  addEvent,
  addMany,
  eraseEvents,
  overwrite,
  readOrders,
  remove,
  type RecordedOrder,
} from '../orders/store/order-records.js'
import { rewindProjections } from '../orders/store/projections.js'
import type { TotalsSum } from '../orders/store/totals.js'
import type { ColumnTitles, Row } from './columns.js'
import { getFormat } from './mirror-state.js'
import { parseRow, type CellError, type ParsedRow } from './parse-row.js'

/** A row with invalid cells. */
export interface RowError {
  id: number
  errors: CellError[]
  /** Whether the row is skipped; otherwise, it is shown without the invalid cells */
  isSkipped: boolean
}

export const formatCellErrors = (errors: readonly CellError[]): string =>
  errors.map(({ column, error }) => `${column} ${error}`).join(', ')

/** Changes with most edits of a row. */
export const toStamp = (row: Row, titles: ColumnTitles): string =>
  [row.UpdatedAt, row[titles.version], row[titles.writeToken]]
    .map((part) => JSON.stringify(part ?? ''))
    .join(' ')

/** Changes with every edit of a row. */
export const toDigest = (row: Row, titles: ColumnTitles): string =>
  createHash('sha1')
    .update(getFormat(titles) + JSON.stringify(row))
    .digest('base64url')

/** Whether personal data was erased from an order after a version. */
const isNewlyErased = ({ history }: ParsedRow, version: number): boolean =>
  history.some(
    (entry) =>
      entry.version > version && entry.changes.some(({ field }) => field === ERASURE_FIELD),
  )

const ROW_COLUMNS = ['id', 'stamp', 'digest', 'fault', 'edited', 'requested_at'] as const

export interface MirrorTransaction {
  tx: Queryable
  dialect: Dialect
  totals: TotalsSum
}

const removeKey = (tx: Queryable, id: number): Promise<unknown> =>
  tx.query('DELETE FROM idempotency_keys WHERE order_id = ?', [id])

/** Removes the order of a row, if it has one. */
export async function removeOrder(
  { tx, dialect, totals }: MirrorTransaction,
  id: number,
): Promise<void> {
  await remove(tx, dialect, id, totals)
  await removeKey(tx, id)
}

/** Mirrors rows in one transaction. New orders are inserted together. */
export class MirrorChunk {
  readonly #errors: RowError[] = []
  /** Orders to insert, by order number */
  readonly #pending = new Map<string, RecordedOrder>()
  /** Ids of the orders that changed without an event */
  readonly #silentIds: number[] = []
  readonly #rows: Record<(typeof ROW_COLUMNS)[number], string | number | null>[] = []

  constructor(
    readonly transaction: MirrorTransaction,
    readonly titles: ColumnTitles,
    /** When the rows were requested, by the clock of the database */
    readonly requestedAt: number,
    readonly hasEvents: boolean,
  ) {}

  async #flush(): Promise<void> {
    const { tx, dialect, totals } = this.transaction
    await addMany(tx, dialect, [...this.#pending.values()], totals)
    const set = ROW_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')
    const after = `ON CONFLICT (id) DO UPDATE SET ${set}`
    await insertRows(tx, 'nocodb_rows', ROW_COLUMNS, this.#rows, { after })
    this.#pending.clear()
    this.#rows.length = 0
  }

  /** Mirrors rows that differ from their mirrored state. Returns the rows with errors. */
  async upsert(rows: readonly Row[]): Promise<RowError[]> {
    const { tx, dialect } = this.transaction
    const ids = rows.map(({ Id }) => Id)
    const orders = await readOrders(tx, dialect, ids)
    const previous = new Map(orders.map((order) => [order.id, order]))
    for (const row of rows) await this.#upsertRow(row, previous.get(String(row.Id)) ?? null)
    await this.#flush()
    if (this.#silentIds.length > 0) {
      await rewindProjections(tx, dialect, Math.min(...this.#silentIds))
    }
    return this.#errors
  }

  async #upsertRow(row: Row, previous: Order | null): Promise<void> {
    const { Id: id } = row
    if (previous !== null) await removeKey(this.transaction.tx, id)
    const result = parseRow(row, this.titles)
    const duplicate = result.ok ? await this.#findDuplicateKey(row) : null
    const parsed = result.ok && duplicate === null ? result.parsed : null
    const errors = [...(result.ok ? result.parsed.errors : result.errors), ...(duplicate ?? [])]
    if (errors.length > 0) this.#errors.push({ id, errors, isSkipped: parsed === null })
    this.#rows.push({
      id,
      stamp: toStamp(row, this.titles),
      digest: toDigest(row, this.titles),
      fault: parsed === null ? formatCellErrors(errors) : null,
      edited: parsed?.isEdited === true ? 1 : 0,
      requested_at: this.requestedAt,
    })
    if (parsed !== null) await this.#saveOrder(row, parsed, previous)
    else if (previous !== null) await removeOrder(this.transaction, id)
  }

  async #saveOrder(row: Row, parsed: ParsedRow, previous: Order | null): Promise<void> {
    const { tx, dialect, totals } = this.transaction
    const { by, history, request } = parsed
    const orderNumber = await this.#findNumber(row.Id, parsed.order.orderNumber)
    const order = { ...parsed.order, orderNumber }
    const record = { order, by, history }
    if (previous === null) this.#pending.set(orderNumber, record)
    else await overwrite(tx, dialect, record, totals)
    const since = previous?.version ?? 0
    if (this.hasEvents && since < order.version) {
      // One event for each version, of which several may have been added since the last pass.
      let before = previous
      for (const version of listVersions(order, history, since)) {
        await addEvent(tx, before, version)
        before = version
      }
    } else if (!isDeepStrictEqual(order, previous)) this.#silentIds.push(row.Id)
    if (isErased(order)) await eraseEvents(tx, order.id)
    if (dialect === DIALECTS.sqlite && previous !== null && isNewlyErased(parsed, since))
      await tx.query(REQUIRE_REWRITE)
    const key = this.#getKey(row)
    if (key !== null && request !== null) {
      await insertRows(
        tx,
        'idempotency_keys',
        ['key', 'request', 'order_id', 'at'],
        [{ key, request, order_id: row.Id, at: Date.parse(order.createdAt) }],
      )
    }
  }

  /** The order number, with the ID appended if another order has the same number. */
  async #findNumber(id: number, orderNumber: string | null): Promise<string> {
    const number = orderNumber ?? formatOrderNumber(id)
    const sql = 'SELECT 1 FROM orders WHERE order_number = ? AND id <> ?'
    const others = await this.transaction.tx.query(sql, [number, id])
    const isTaken = this.#pending.has(number) || others.length > 0
    return isTaken ? `${number}-${id}` : number
  }

  #getKey(row: Row): string | null {
    const key = row[this.titles.idempotencyKey]
    return typeof key === 'string' && key !== '' ? key : null
  }

  /**
   * If another row has the same idempotency key, skips the row with the higher id. Returns the
   * errors if `row` is skipped.
   */
  async #findDuplicateKey(row: Row): Promise<CellError[] | null> {
    const key = this.#getKey(row)
    if (key === null) return null
    const sql = 'SELECT order_id FROM idempotency_keys WHERE key = ?'
    const [other] = await this.transaction.tx.query<{ order_id: number }>(sql, [key])
    if (other === undefined) return null
    const column = this.titles.idempotencyKey
    if (other.order_id < row.Id) return [{ column, error: `duplicates row ${other.order_id}` }]
    await this.#flush()
    await removeOrder(this.transaction, other.order_id)
    await this.transaction.tx.query('UPDATE nocodb_rows SET fault = ?, edited = 0 WHERE id = ?', [
      `${column} duplicates row ${row.Id}`,
      other.order_id,
    ])
    return null
  }
}
