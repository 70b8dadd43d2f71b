import type { Database, Statement } from 'better-sqlite3'
import type { OrderFilters, OrderSort, SortField } from '../../orders/order-filters.js'
import { parseDay, type DayCalendar } from '../../orders/day-calendar.js'
import { toCalculatorCode, toStatusCode } from './order-row.js'
import { createAggregateReader, type GroupCount } from './aggregates.js'
import { toSearchTerm } from './search-text.js'
import { toCandidateSource, HAS_TEXT, toTextSource, type TextSource } from './text-search.js'

/** Which part of a sorted list. */
export interface Slice {
  sort: OrderSort
  offset: number
  limit: number
}

/** Ids of a slice, in order, and how many orders match in all. */
export interface FindResult {
  ids: number[]
  total: number
}

const SORT_COLUMNS: Record<SortField, string> = {
  placedAt: 'placed_at',
  orderNumber: 'order_number_key',
  customerName: 'customer_name_key',
  vesselName: 'vessel_name_key',
  co2eKg: 'co2e_kg',
  amountMinor: 'amount_minor',
  status: 'status',
}

const SORT_INDEXES: Record<SortField, string> = {
  placedAt: 'orders_by_placed_at',
  orderNumber: 'orders_by_order_number',
  customerName: 'orders_by_customer_name',
  vesselName: 'orders_by_vessel_name',
  co2eKg: 'orders_by_co2e_kg',
  amountMinor: 'orders_by_amount_minor',
  status: 'orders_by_status',
}

interface Condition {
  sql: string
  values: (string | number)[]
}

/** Moments from which and before which orders were placed. */
interface Span {
  since: number
  before: number
}

function spanOf(filters: OrderFilters, calendar: DayCalendar): Span {
  return {
    since:
      filters.from === undefined
        ? Number.MIN_SAFE_INTEGER
        : calendar.startOf(parseDay(filters.from)),
    before:
      filters.to === undefined
        ? Number.MAX_SAFE_INTEGER
        : calendar.startOf(parseDay(filters.to) + 1),
  }
}

const placeholders = (values: unknown[]): string => values.map(() => '?').join(', ')

/** What rows must be like, by all filters but the search. */
function conditionsOf(filters: OrderFilters, calendar: DayCalendar): Condition[] {
  const conditions: Condition[] = []
  const { status, calculatorType, currency, from, to } = filters
  if (status && status.length > 0) {
    conditions.push({
      sql: `status IN (${placeholders(status)})`,
      values: status.map(toStatusCode),
    })
  }
  if (calculatorType && calculatorType.length > 0) {
    const values = calculatorType.map(toCalculatorCode)
    conditions.push({ sql: `calculator_type IN (${placeholders(values)})`, values })
  }
  if (currency !== undefined) conditions.push({ sql: 'currency = ?', values: [currency] })
  if (from !== undefined || to !== undefined) {
    const { since, before } = spanOf(filters, calendar)
    conditions.push({ sql: 'placed_at >= ? AND placed_at < ?', values: [since, before] })
  }
  return conditions
}

/** Which kinds of orders the filters let through. */
function kindFilter({ status, calculatorType, currency }: OrderFilters) {
  const statuses = new Set(status?.map(toStatusCode))
  const calculators = new Set(calculatorType?.map(toCalculatorCode))
  return (kind: GroupCount): boolean =>
    (statuses.size === 0 || statuses.has(kind.status)) &&
    (calculators.size === 0 || calculators.has(kind.calculator_type)) &&
    (currency === undefined || currency === kind.currency)
}

const where = (conditions: Condition[]): string =>
  conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`

const valuesOf = (conditions: Condition[]) => conditions.flatMap(({ values }) => values)

export const parseSort = (sort: OrderSort): { field: SortField; descending: boolean } =>
  sort.startsWith('-')
    ? { field: sort.slice(1) as SortField, descending: true }
    : { field: sort as SortField, descending: false }

const orderBy = (field: SortField, descending: boolean): string => {
  const direction = descending ? 'DESC' : 'ASC'
  return `ORDER BY ${SORT_COLUMNS[field]} ${direction}, orders.id ${direction}`
}

const countIn = (kinds: readonly GroupCount[]): number =>
  kinds.reduce((sum, { orders }) => sum + orders, 0)

/** Fetching a row by its id costs about this many steps along an index. */
const ROW_COST = 4

const FEW_MATCHES = 5_000

/** Up to so many orders are looked at for a text; where more may have it, the index knows. */
const FEW_CANDIDATES = 1_000

/** Totals of searches kept until the book changes, so that turning pages does not count anew. */
const MOST_TOTALS = 100

/**
 * Finds orders in a book. How many match is read from the sums. The slice comes along the index
 * that has the sort, passing over what does not match, or, where few match, by gathering and
 * sorting those: whichever takes fewer steps, so that rare orders are found as fast as common ones.
 *
 * @param db a connection that reads only: what others write must show in its data_version
 * @param fewMatches up to so many matches of a text are gathered; of more, a list comes along its index
 */
export function createOrderFinder(db: Database, calendar: DayCalendar, fewMatches = FEW_MATCHES) {
  const rollUps = createAggregateReader(db)
  const statements = new Map<string, Statement>()
  function prepared(sql: string): Statement {
    const known = statements.get(sql)
    if (known !== undefined) return known
    const statement = db.prepare(sql)
    statements.set(sql, statement)
    return statement
  }
  const numbers = (sql: string, values: unknown[]): number[] =>
    prepared(sql)
      .pluck(true)
      .all(...values) as number[]
  const numberOf = (sql: string, values: unknown[]): number => numbers(sql, values)[0] ?? 0

  const totals = new Map<string, number>()
  let totalsOf: unknown
  /** Counts matches of a search, once for each state of the book. */
  function counted(filters: OrderFilters, count: () => number): number {
    const state = db.pragma('data_version', { simple: true })
    if (state !== totalsOf || totals.size >= MOST_TOTALS) totals.clear()
    totalsOf = state
    const key = JSON.stringify(filters)
    const total = totals.get(key) ?? count()
    totals.set(key, total)
    return total
  }

  function alongIndex(conditions: Condition[], { sort, offset, limit }: Slice, total: number) {
    const { field, descending } = parseSort(sort)
    // The far half of a list is nearer from its end.
    const backwards = offset > total / 2
    const length = Math.min(limit, total - offset)
    const found = numbers(
      `SELECT id FROM orders INDEXED BY ${SORT_INDEXES[field]} ${where(conditions)}
       ${orderBy(field, descending !== backwards)} LIMIT ? OFFSET ?`,
      [...valuesOf(conditions), length, backwards ? total - offset - length : offset],
    )
    return backwards ? found.reverse() : found
  }

  /** The kinds of orders that the filters but the search let through, in the days they name. */
  function kindsOf(filters: OrderFilters): Record<'inRange' | 'kinds', readonly GroupCount[]> {
    const inRange = rollUps.counts({
      from: filters.from === undefined ? null : parseDay(filters.from),
      to: filters.to === undefined ? null : parseDay(filters.to),
    })
    return { inRange, kinds: inRange.filter(kindFilter(filters)) }
  }

  function gathered(kinds: readonly GroupCount[], span: Span, { sort, offset, limit }: Slice) {
    const { field, descending } = parseSort(sort)
    const list = JSON.stringify(
      kinds.map(({ status, calculator_type, currency }) => [status, calculator_type, currency]),
    )
    return numbers(
      `SELECT orders.id FROM json_each(?) AS kind CROSS JOIN orders INDEXED BY orders_by_kind
       ON status = kind.value ->> 0 AND calculator_type = kind.value ->> 1
         AND currency = kind.value ->> 2 AND placed_at >= ? AND placed_at < ?
       ${orderBy(field, descending)} LIMIT ? OFFSET ?`,
      [list, span.since, span.before, limit, offset],
    )
  }

  function listed(filters: OrderFilters, slice: Slice): FindResult {
    const { inRange, kinds } = kindsOf(filters)
    const total = countIn(kinds)
    if (slice.offset >= total) return { ids: [], total }
    const sortedByDay = parseSort(slice.sort).field === 'placedAt'
    const passed = countIn(sortedByDay ? inRange : rollUps.counts({ from: null, to: null }))
    const reach = Math.min(slice.offset, total - slice.offset) + slice.limit
    const ids =
      reach * (passed / total) <= total * ROW_COST
        ? alongIndex(conditionsOf(filters, calendar), slice, total)
        : gathered(kinds, spanOf(filters, calendar), slice)
    return { ids, total }
  }

  /** Ids as one text of JSON, which costs little more than to count them; `null` where there are more. */
  function idsUpTo(most: number, { from, values }: TextSource, condition = 'TRUE'): string | null {
    const found = prepared(
      `SELECT count(*) AS seen, json_group_array(id) FILTER (WHERE ${condition}) AS ids
       FROM (SELECT * FROM ${from} LIMIT ?)`,
    ).get(...values, most + 1) as { seen: number; ids: string }
    return found.seen > most ? null : found.ids
  }

  /** The ids of all orders that have a text, as JSON, if they are few. */
  function fewWith(text: string, source: TextSource): string | null {
    const candidates = toCandidateSource(text)
    const most = Math.min(FEW_CANDIDATES, fewMatches)
    const known = candidates === null ? null : idsUpTo(most, candidates, 'has_text')
    return known ?? idsUpTo(fewMatches, source)
  }

  function searched(text: string, filters: OrderFilters, slice: Slice): FindResult {
    const source = toTextSource(text)
    const { from } = source
    const conditions = conditionsOf(filters, calendar)
    const few = fewWith(text, source)
    if (few !== null) {
      const { field, descending } = parseSort(slice.sort)
      const ids = numbers(
        `SELECT orders.id FROM json_each(?) AS matched CROSS JOIN orders ON orders.id = matched.value
         ${where(conditions)} ${orderBy(field, descending)}`,
        [few, ...valuesOf(conditions)],
      )
      return { ids: ids.slice(slice.offset, slice.offset + slice.limit), total: ids.length }
    }
    const total = counted(filters, () => {
      const all = numberOf(`SELECT count(*) FROM ${from}`, source.values)
      if (conditions.length === 0) return all
      const matches = { sql: `id IN (SELECT id FROM ${from})`, values: source.values }
      const wanted = [...conditions, matches]
      return numberOf(`SELECT count(*) FROM orders ${where(wanted)}`, valuesOf(wanted))
    })
    if (slice.offset >= total) return { ids: [], total }
    return {
      ids: alongIndex([...conditions, { sql: HAS_TEXT, values: [text] }], slice, total),
      total,
    }
  }

  const finding = db.transaction((filters: OrderFilters, slice: Slice): FindResult => {
    const text = toSearchTerm(filters.q)
    return text === null ? listed(filters, slice) : searched(text, filters, slice)
  })

  return {
    /** The orders that all filters let through: how many, and the ids of a slice. */
    find: (filters: OrderFilters, slice: Slice): FindResult => finding(filters, slice),
    /** A query of the columns of all matching orders, sorted, and its values. */
    all(columns: string, filters: OrderFilters, sort: OrderSort): Condition {
      const text = toSearchTerm(filters.q)
      const conditions = conditionsOf(filters, calendar)
      if (text !== null) {
        const { from, values } = toTextSource(text)
        conditions.push({ sql: `id IN (SELECT id FROM ${from})`, values })
      }
      const { field, descending } = parseSort(sort)
      return {
        sql: `SELECT ${columns} FROM orders ${where(conditions)} ${orderBy(field, descending)}`,
        values: valuesOf(conditions),
      }
    },
  }
}

/** Whether a text is to be searched for, which takes long in a large book. */
export const isSearch = ({ q }: OrderFilters): boolean => toSearchTerm(q) !== null
