import type { Queryable, SqlValue } from '../../../database/database.js'
import type { DayCalendar } from '../../../core/formatting/day-calendar.js'
import { areTotalsFilters, type OrderFilters, type OrderSort } from '../../order-filters.js'
import type { ListSlice } from '../order-store.js'
import { READ_COLUMNS } from '../sql/order-row.js'
import {
  parseSort,
  toConditions,
  toOrderBy,
  toTotalsQuery,
  toValues,
  toWhere,
  type SqlFragment,
} from '../sql/query-conditions.js'
import { toSearchWords } from '../sql/search-text.js'
import { hasWords, probeSearch } from './search.js'
import { MAX_EXACT_COUNT, type RowCounts } from './row-counts.js'

/** IDs of the orders in a slice, sorted, and the number of matching orders. */
export interface FindResult {
  ids: number[]
  total: number
}

/** Up to this many matches are read and sorted; for more, the index of the sort field is walked. */
const MAX_SORTED_MATCHES = MAX_EXACT_COUNT

const selectIds = async (
  tx: Queryable,
  sql: string,
  values: readonly SqlValue[],
): Promise<number[]> => (await tx.query<{ id: number }>(sql, values)).map(({ id }) => id)

const selectCount = async (tx: Queryable, { sql, values }: SqlFragment): Promise<number> =>
  (await tx.query<{ count: number }>(`SELECT count(*) AS count ${sql}`, values))[0]?.count ?? 0

/** Reads a slice along the index of its sort field, from the nearer end of the list. */
async function walkIndex(
  tx: Queryable,
  { from, conditions }: { from: string; conditions: SqlFragment[] },
  { sort, offset, limit }: ListSlice,
  total: number,
): Promise<number[]> {
  const { field, descending } = parseSort(sort)
  const isReversed = offset > total / 2
  const length = Math.min(limit, total - offset)
  const ids = await selectIds(
    tx,
    `SELECT id FROM ${from} ${toWhere(conditions)}
     ${toOrderBy(field, descending !== isReversed)} LIMIT ? OFFSET ?`,
    [...toValues(conditions), length, isReversed ? total - offset - length : offset],
  )
  return isReversed ? ids.reverse() : ids
}

/**
 * Reads and sorts all orders that match; MATERIALIZED keeps the planner from walking the index of
 * the sort field.
 */
function sortMatches(
  tx: Queryable,
  conditions: SqlFragment[],
  { sort, offset, limit }: ListSlice,
): Promise<number[]> {
  const { field, descending } = parseSort(sort)
  return selectIds(
    tx,
    `WITH orders AS MATERIALIZED (SELECT * FROM orders ${toWhere(conditions)})
     SELECT id FROM orders ${toOrderBy(field, descending)} LIMIT ? OFFSET ?`,
    [...toValues(conditions), limit, offset],
  )
}

/** Returns a query for READ_COLUMNS of all matching orders, sorted. */
export function toQuery(
  filters: OrderFilters,
  sort: OrderSort,
  calendar: DayCalendar,
): SqlFragment {
  const words = toSearchWords(filters.q)
  const conditions = toConditions(filters, calendar, 'postgres')
  const { field, descending } = parseSort(sort)
  if (words.length === 0) {
    const sql = `SELECT ${READ_COLUMNS} FROM orders ${toWhere(conditions)} ${toOrderBy(field, descending)}`
    return { sql, values: toValues(conditions) }
  }
  const all = [...conditions, hasWords(words)]
  return {
    sql: `SELECT ${READ_COLUMNS} FROM orders JOIN order_search ON order_search.order_id = orders.id
          ${toWhere(all)} ${toOrderBy(field, descending)}`,
    values: toValues(all),
  }
}

export function createOrderFinder(calendar: DayCalendar, counts: RowCounts) {
  async function filter(
    tx: Queryable,
    filters: OrderFilters,
    slice: ListSlice,
  ): Promise<FindResult> {
    const conditions = toConditions(filters, calendar, 'postgres')
    const totals = toTotalsQuery(filters)
    const total = areTotalsFilters(filters)
      ? ((await tx.query<{ count: number }>(totals.sql, totals.values))[0]?.count ?? 0)
      : (
          await counts.countByKey(
            tx,
            `SELECT 1 AS key FROM orders ${toWhere(conditions)}`,
            toValues(conditions),
          )
        ).reduce((sum, { count }) => sum + count, 0)
    if (slice.offset >= total) return { ids: [], total }
    const ids =
      total <= MAX_SORTED_MATCHES && conditions.length > 0
        ? await sortMatches(tx, conditions, slice)
        : await walkIndex(tx, { from: 'orders', conditions }, slice, total)
    return { ids, total }
  }

  async function search(
    tx: Queryable,
    words: string[],
    filters: OrderFilters,
    slice: ListSlice,
  ): Promise<FindResult> {
    const conditions = toConditions(filters, calendar, 'postgres')
    // A search is cached only if it has too many matches, so another probe would fail too.
    const name = JSON.stringify(filters)
    const probe = counts.isCached(name)
      ? null
      : await probeSearch(tx, words, { max: MAX_SORTED_MATCHES, cache: counts.cache })
    if (probe !== null) {
      const { field, descending } = parseSort(slice.sort)
      const matches: SqlFragment<SqlValue>[] = [
        { sql: 'id = ANY(?::bigint[])', values: [probe] },
        ...conditions,
      ]
      const ids = await selectIds(
        tx,
        `SELECT id FROM orders ${toWhere(matches)} ${toOrderBy(field, descending)}`,
        toValues(matches),
      )
      return { ids: ids.slice(slice.offset, slice.offset + slice.limit), total: ids.length }
    }
    const common = hasWords(words)
    const all = [...conditions, common]
    const from = 'orders JOIN order_search ON order_search.order_id = orders.id'
    const total = await counts.cache(name, () =>
      selectCount(tx, {
        sql: `FROM ${conditions.length === 0 ? 'order_search' : from} ${toWhere(all)}`,
        values: toValues(all),
      }),
    )
    if (slice.offset >= total) return { ids: [], total }
    return { ids: await walkIndex(tx, { from, conditions: all }, slice, total), total }
  }

  return {
    find(tx: Queryable, filters: OrderFilters, slice: ListSlice): Promise<FindResult> {
      const words = toSearchWords(filters.q)
      return words.length === 0 ? filter(tx, filters, slice) : search(tx, words, filters, slice)
    },
  }
}
