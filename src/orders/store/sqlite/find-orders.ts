import type { Database, Statement } from 'better-sqlite3'
import type { DayCalendar } from '../../../core/formatting/day-calendar.js'
import { hasUngroupedFilter, type OrderFilters, type OrderSort } from '../../order-filters.js'
import type { ListSlice } from '../order-store.js'
import { countOrders, type GroupCount } from '../sql/daily-aggregate.js'
import { createGroupCounter } from './group-counts.js'
import {
  createGroupFilter,
  parseSort,
  SORT_INDEXES,
  toConditions,
  toDayRange,
  toOrderBy,
  toTimeRange,
  toValues,
  toWhere,
  type SqlFragment,
  type TimeRange,
} from '../sql/query-conditions.js'
import { toSearchWords } from '../sql/search-text.js'
import { createSearch, type IdSource, type Search } from './search-query.js'

/** IDs of the orders in a slice, sorted, and the number of matching orders. */
export interface FindResult {
  ids: number[]
  total: number
}

/** Reading a row by its ID costs about as much as this many steps along an index. */
const ROW_COST = 4

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
export const isSlow = (filters: OrderFilters): boolean =>
  toSearchWords(filters.q).length > 0 ||
  (filters.exception ?? []).length > 0 ||
  hasUngroupedFilter(filters)

/**
 * Finds orders by filters. The total comes from the aggregates if they cover the filters;
 * otherwise, the matches are counted. A slice is read along the index of its sort field, and orders
 * that do not match are skipped. If reading and sorting all matches takes fewer steps, that is done
 * instead.
 *
 * @param db a read-only connection: cached totals are valid for one `data_version`, which a
 *   connection's own writes do not change
 */
export function createOrderFinder(
  db: Database,
  calendar: DayCalendar,
  maxSortedMatches = MAX_SORTED_MATCHES,
) {
  const countGroups = createGroupCounter(db)
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

  function sortMatches(
    groups: readonly GroupCount[],
    { since, until }: TimeRange,
    { sort, offset, limit }: ListSlice,
  ): number[] {
    const { field, descending } = parseSort(sort)
    const keys = groups.map(({ status, calculator_type, currency }) => [
      status,
      calculator_type,
      currency,
    ])
    return selectNumbers(
      `SELECT orders.id FROM json_each(?) AS kind CROSS JOIN orders INDEXED BY orders_by_kind
       ON status = kind.value ->> 0 AND calculator_type = kind.value ->> 1
         AND currency = kind.value ->> 2 AND placed_at >= ? AND placed_at < ?
       ${toOrderBy(field, descending)} LIMIT ? OFFSET ?`,
      [JSON.stringify(keys), since, until, limit, offset],
    )
  }

  /**
   * Finds orders by filters that the aggregates do not cover. Reads and sorts all matches,
   * on the assumption that few orders have exceptions.
   */
  function findWithoutGroups(filters: OrderFilters, slice: ListSlice): FindResult {
    const { sort, offset, limit } = slice
    const conditions = toConditions(filters, calendar)
    const { field, descending } = parseSort(sort)
    const hasException = filters.exception !== undefined && filters.exception.length > 0
    const from = hasException
      ? `FROM orders INDEXED BY orders_by_exception
         ${toWhere(conditions)} AND exception IS NOT NULL`
      : `FROM orders ${toWhere(conditions)}`
    const values = toValues(conditions)
    return {
      ids: selectNumbers(`SELECT id ${from} ${toOrderBy(field, descending)} LIMIT ? OFFSET ?`, [
        ...values,
        limit,
        offset,
      ]),
      total: getTotal(filters, () => count(`SELECT count(*) ${from}`, values)),
    }
  }

  function filter(filters: OrderFilters, slice: ListSlice): FindResult {
    const hasException = filters.exception !== undefined && filters.exception.length > 0
    if (hasException || hasUngroupedFilter(filters)) return findWithoutGroups(filters, slice)
    const groupsInRange = countGroups(toDayRange(filters))
    const groups = groupsInRange.filter(createGroupFilter(filters))
    const total = countOrders(groups)
    if (slice.offset >= total) return { ids: [], total }
    const isSortedByDay = parseSort(slice.sort).field === 'placedAt'
    const scanned = countOrders(
      isSortedByDay ? groupsInRange : countGroups({ from: null, to: null }),
    )
    const distance = Math.min(slice.offset, total - slice.offset) + slice.limit
    const ids =
      distance * (scanned / total) <= total * ROW_COST
        ? scanIndex(toConditions(filters, calendar), slice, total)
        : sortMatches(groups, toTimeRange(toDayRange(filters), calendar), slice)
    return { ids, total }
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
