import type { Database, Statement } from 'better-sqlite3'
import type { DayCalendar } from '../../../core/formatting/day-calendar.js'
import { areTotalsFilters, type OrderFilters, type OrderSort } from '../../order-filters.js'
import type { ListSlice } from '../order-store.js'
import {
  parseSort,
  SORT_INDEXES,
  toConditions,
  toOrderBy,
  toTotalsQuery,
  toValues,
  toWhere,
  type SqlFragment,
} from '../sql/query-conditions.js'
import { toSearchWords } from '../sql/search-text.js'
import { createSearch, type IdSource, type Search } from './search-query.js'

/** IDs of the orders in a slice, sorted, and the number of matching orders. */
export interface FindResult {
  ids: number[]
  total: number
}

/** Up to this many matches of a search are read and sorted; for more, the sort index is scanned. */
const MAX_SORTED_MATCHES = 5_000

/**
 * Up to this many candidates are compared with the words of a search. With more, all words are
 * looked up in the full-text index.
 */
const MAX_CANDIDATES = 1_000

/**
 * Maximum number of totals that are cached until the database changes, so that paging does not
 * count the matches again.
 */
const MAX_CACHED_TOTALS = 100

/** Whether finding orders can be slow in a large database. */
export const isSlow = (filters: OrderFilters): boolean => !areTotalsFilters(filters)

/**
 * Finds orders by filters. The total comes from the totals by day if they cover the filters;
 * otherwise, the matches are counted. A slice is read along the index of its sort field, and orders
 * that do not match are skipped.
 *
 * @param db a read-only connection: cached totals are valid for one `data_version`, which a
 *   connection's own writes do not change
 */
export function createOrderFinder(
  db: Database,
  calendar: DayCalendar,
  maxSortedMatches = MAX_SORTED_MATCHES,
) {
  const statements = new Map<string, Statement>()

  function prepare(sql: string): Statement {
    const statement = statements.get(sql) ?? db.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  const selectNumbers = (sql: string, values: unknown[]): number[] =>
    prepare(sql)
      .pluck(true)
      .all(...values) as number[]
  const count = (sql: string, values: unknown[]): number => selectNumbers(sql, values)[0] ?? 0

  const cachedTotals = new Map<string, number>()
  let cachedVersion: unknown
  function getTotal(filters: OrderFilters, countMatches: () => number): number {
    const version = db.pragma('data_version', { simple: true })
    if (version !== cachedVersion || cachedTotals.size >= MAX_CACHED_TOTALS) cachedTotals.clear()
    cachedVersion = version
    const key = JSON.stringify(filters)
    const total = cachedTotals.get(key) ?? countMatches()
    cachedTotals.set(key, total)
    return total
  }

  function scanIndex(
    conditions: SqlFragment[],
    { sort, offset, limit }: ListSlice,
    total: number,
  ): number[] {
    const { field, descending } = parseSort(sort)
    // A slice in the second half of a list is read from the end, which is closer.
    const isReversed = offset > total / 2
    const length = Math.min(limit, total - offset)
    const ids = selectNumbers(
      `SELECT id FROM orders INDEXED BY ${SORT_INDEXES[field]} ${toWhere(conditions)}
       ${toOrderBy(field, descending !== isReversed)} LIMIT ? OFFSET ?`,
      [...toValues(conditions), length, isReversed ? total - offset - length : offset],
    )
    return isReversed ? ids.reverse() : ids
  }

  function filter(filters: OrderFilters, slice: ListSlice): FindResult {
    const conditions = toConditions(filters, calendar)
    const totals = toTotalsQuery(filters)
    const total = areTotalsFilters(filters)
      ? count(totals.sql, totals.values)
      : getTotal(filters, () =>
          count(
            `SELECT count(*) FROM orders INDEXED BY orders_by_placed_at ${toWhere(conditions)}`,
            toValues(conditions),
          ),
        )
    if (slice.offset >= total) return { ids: [], total }
    return { ids: scanIndex(conditions, slice, total), total }
  }

  /**
   * Returns IDs as a JSON array, which takes little longer than counting the rows; `null` if the
   * source has more than `max` rows.
   */
  function selectIds(max: number, { from, values }: IdSource, condition = 'TRUE'): string | null {
    const found = prepare(
      `SELECT count(*) AS seen, json_group_array(id) FILTER (WHERE ${condition}) AS ids
       FROM (SELECT * FROM ${from} LIMIT ?)`,
    ).get(...values, max + 1) as { seen: number; ids: string }
    return found.seen > max ? null : found.ids
  }

  /** Returns the IDs of all orders that match a search, as JSON; `null` if there are too many. */
  function selectMatches({ matches, candidates }: Search): string | null {
    const maxCandidates = Math.min(MAX_CANDIDATES, maxSortedMatches)
    const ids = candidates === null ? null : selectIds(maxCandidates, candidates, 'is_match')
    return ids ?? selectIds(maxSortedMatches, matches)
  }

  function search(words: string[], filters: OrderFilters, slice: ListSlice): FindResult {
    const search = createSearch(words)
    const conditions = toConditions(filters, calendar)
    const matches = selectMatches(search)
    if (matches !== null) {
      const { field, descending } = parseSort(slice.sort)
      const ids = selectNumbers(
        `SELECT orders.id FROM json_each(?) AS matched CROSS JOIN orders ON orders.id = matched.value
         ${toWhere(conditions)} ${toOrderBy(field, descending)}`,
        [matches, ...toValues(conditions)],
      )
      return { ids: ids.slice(slice.offset, slice.offset + slice.limit), total: ids.length }
    }
    const total = getTotal(filters, () => {
      const { from, values } = search.matches
      if (conditions.length === 0) return count(`SELECT count(*) FROM ${from}`, values)
      const all = [...conditions, toIdCondition(search.matches)]
      return count(`SELECT count(*) FROM orders ${toWhere(all)}`, toValues(all))
    })
    if (slice.offset >= total) return { ids: [], total }
    return { ids: scanIndex([...conditions, search.condition], slice, total), total }
  }

  const toIdCondition = ({ from, values }: IdSource): SqlFragment => ({
    sql: `id IN (SELECT id FROM ${from})`,
    values,
  })

  const find = db.transaction((filters: OrderFilters, slice: ListSlice): FindResult => {
    const words = toSearchWords(filters.q)
    return words.length === 0 ? filter(filters, slice) : search(words, filters, slice)
  })

  return {
    find: (filters: OrderFilters, slice: ListSlice): FindResult => find(filters, slice),
    /** Returns a query for `columns` of all matching orders, sorted. */
    toQuery(columns: string, filters: OrderFilters, sort: OrderSort): SqlFragment {
      const words = toSearchWords(filters.q)
      const conditions = toConditions(filters, calendar)
      if (words.length > 0) conditions.push(toIdCondition(createSearch(words).matches))
      const { field, descending } = parseSort(sort)
      return {
        sql: `SELECT ${columns} FROM orders ${toWhere(conditions)} ${toOrderBy(field, descending)}`,
        values: toValues(conditions),
      }
    },
  }
}
