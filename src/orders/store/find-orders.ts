import { createDayCalendar, type DayCalendar } from '../../core/formatting/day-calendar.js'
import type { Queryable } from '../../database/database.js'
import { streamRows, type DatabaseSource } from '../../database/stream-rows.js'
import { areTotalsFilters, type OrderFilters, type OrderSort } from '../order-filters.js'
import {
  getSortIndex,
  isIn,
  toConditions,
  toDayRange,
  toOrderBy,
  toValues,
  toWhere,
} from './conditions.js'
import { DIALECTS, type Dialect, type SqlFragment } from './dialect.js'
import { READ_COLUMNS, toStatusCode, type ReadRow } from './order-row.js'
import { MAX_EXACT_TOTAL, type ListSlice, type OrderList, type RowQuery } from './order-store.js'
import { toSearchWords } from './search-text.js'
import { matchesWords, toWord } from './search-words.js'

type Total = Omit<OrderList, 'items'>

/** IDs of the orders in a slice, sorted. */
export interface FoundOrders extends Total {
  ids: number[]
}

/** Finds orders by filters; for searches, see `searchOrders`. */
export class OrderFinder {
  constructor(
    readonly dialect: Dialect,
    readonly calendar: DayCalendar,
  ) {}

  /**
   * Reads a slice along the index of its sort field, which contains the columns of all filters. A
   * slice in the second half is read from the end, which is closer.
   */
  async find(
    tx: Queryable,
    filters: OrderFilters,
    { sort, offset, limit }: ListSlice,
  ): Promise<FoundOrders> {
    const { total, isTotalExact } = await this.count(tx, filters)
    const length = isTotalExact ? Math.max(0, Math.min(limit, total - offset)) : limit
    if (length === 0) return { ids: [], total, isTotalExact }
    const isReversed = isTotalExact && offset > total / 2
    const conditions = this.toConditions(filters)
    const ids = await selectIds(tx, {
      sql: `SELECT id FROM ${this.walkIndex(sort, filters)} ${toWhere(conditions)}
        ${toOrderBy(sort, isReversed)} LIMIT ? OFFSET ?`,
      values: [...toValues(conditions), length, isReversed ? total - offset - length : offset],
    })
    return { ids: isReversed ? ids.reverse() : ids, total, isTotalExact }
  }

  toConditions(filters: OrderFilters): SqlFragment[] {
    return toConditions(filters, this.calendar, this.dialect)
  }

  /** The orders in a FROM clause, read in the order of their sort field. */
  walkIndex(sort: OrderSort, filters: OrderFilters): string {
    return this.#readAlong(getSortIndex(sort), filters)
  }

  /** Known IDs are looked up instead. */
  #readAlong(index: string, { ids }: OrderFilters): string {
    return ids === undefined ? `orders ${this.dialect.indexedBy(index)}` : 'orders'
  }

  /** Counts the orders that match the filters, without the search; counts up to `max` orders. */
  async count(tx: Queryable, matching: OrderFilters, max = MAX_EXACT_TOTAL): Promise<Total> {
    const filters = { ...matching, q: '' }
    if (areTotalsFilters(filters))
      return { total: await readTotal(tx, filters), isTotalExact: true }
    const conditions = this.toConditions(filters)
    const index =
      (filters.exception ?? []).length > 0 ? 'orders_by_exception' : 'orders_by_placed_at'
    const [row] = await tx.query<{ count: number }>(
      `SELECT count(*) AS count FROM (
         SELECT 1 FROM ${this.#readAlong(index, filters)} ${toWhere(conditions)} LIMIT ?
       ) AS matches`,
      [...toValues(conditions), max + 1],
    )
    const count = row?.count ?? 0
    return { total: Math.min(count, max), isTotalExact: count <= max }
  }
}

export async function selectIds(tx: Queryable, { sql, values }: SqlFragment): Promise<number[]> {
  return (await tx.query<{ id: number }>(sql, values)).map(({ id }) => id)
}

/** Reads the number of orders that match filters by day, status and currency only. */
async function readTotal(tx: Queryable, filters: OrderFilters): Promise<number> {
  const { status = [], currency } = filters
  const { from, to } = toDayRange(filters)
  const conditions: SqlFragment[] = []
  if (from !== null) conditions.push({ sql: 'day >= ?', values: [from] })
  if (to !== null) conditions.push({ sql: 'day <= ?', values: [to] })
  if (status.length > 0) conditions.push(isIn('status', status.map(toStatusCode)))
  if (currency !== undefined) conditions.push({ sql: 'currency = ?', values: [currency] })
  const [row] = await tx.query<{ total: number }>(
    `SELECT CAST(coalesce(sum(orders), 0) AS BIGINT) AS total
     FROM order_totals ${toWhere(conditions)}`,
    toValues(conditions),
  )
  return row?.total ?? 0
}

/** A query for all matching orders, sorted. */
function buildRowQuery(
  { timeZone, filters, sort }: RowQuery,
  engine: keyof typeof DIALECTS,
): SqlFragment {
  const dialect = DIALECTS[engine]
  const finder = new OrderFinder(dialect, createDayCalendar(timeZone))
  const words = toSearchWords(filters.q).map(toWord)
  const conditions = finder.toConditions(filters)
  if (words.length > 0) conditions.push(matchesWords(dialect, words))
  const texts = words.length > 0 ? `JOIN ${dialect.texts} ON texts.id = orders.id` : ''
  return {
    sql: `SELECT ${READ_COLUMNS} FROM ${finder.walkIndex(sort, filters)} ${texts}
      ${toWhere(conditions)} ${toOrderBy(sort)}`,
    values: toValues(conditions),
  }
}

/**
 * Reads all matching orders as a consistent snapshot, through a separate connection. Only one batch
 * is in memory at a time.
 */
export const readOrderRows = ({
  source,
  ...query
}: RowQuery & { source: DatabaseSource }): AsyncGenerator<ReadRow[]> =>
  streamRows<ReadRow>(source, buildRowQuery(query, source.type))
