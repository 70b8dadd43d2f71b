import { parseDay, type DayCalendar } from '../../../core/formatting/day-calendar.js'
import type { PaymentMethod } from '../../checkout.js'
import type { OrderException, OrderFilters, OrderSort, SortField } from '../../order-filters.js'
import type { DayRange } from '../../order-statistics.js'
import { EXCEPTION_CODES, toCalculatorCode, toStatusCode } from './order-row.js'

/** Part of a query and its parameters. */
export interface SqlFragment<Value = string | number> {
  sql: string
  values: Value[]
}

/** A range of timestamps, ms since 1970; `until` is excluded. */
export interface TimeRange {
  since: number
  until: number
}

const SORT_COLUMNS: Record<SortField, readonly string[]> = {
  placedAt: ['placed_at'],
  orderNumber: ['order_number_key'],
  customerName: ['customer_name_key'],
  vesselName: ['vessel_name_key'],
  co2eKg: ['co2e_kg'],
  // Amounts can be compared only within a currency.
  amountMinor: ['currency', 'amount_minor'],
  status: ['status'],
}

export const SORT_INDEXES: Record<SortField, string> = {
  placedAt: 'orders_by_placed_at',
  orderNumber: 'orders_by_order_number',
  customerName: 'orders_by_customer_name',
  vesselName: 'orders_by_vessel_name',
  co2eKg: 'orders_by_co2e_kg',
  amountMinor: 'orders_by_amount_minor',
  status: 'orders_by_status',
}

export const parseSort = (sort: OrderSort): { field: SortField; descending: boolean } =>
  sort.startsWith('-')
    ? { field: sort.slice(1) as SortField, descending: true }
    : { field: sort as SortField, descending: false }

export function toOrderBy(field: SortField, descending: boolean): string {
  const direction = descending ? 'DESC' : 'ASC'
  const columns = [...SORT_COLUMNS[field], 'orders.id']
  return `ORDER BY ${columns.map((column) => `${column} ${direction}`).join(', ')}`
}

export const toDayRange = ({ from, to }: OrderFilters): DayRange => ({
  from: from === undefined ? null : parseDay(from),
  to: to === undefined ? null : parseDay(to),
})

export function toTimeRange({ from, to }: DayRange, calendar: DayCalendar): TimeRange {
  return {
    since: from === null ? Number.MIN_SAFE_INTEGER : calendar.startOf(from),
    until: to === null ? Number.MAX_SAFE_INTEGER : calendar.startOf(to + 1),
  }
}

const toInCondition = (column: string, values: (string | number)[]): SqlFragment => ({
  sql: `${column} IN (${values.map(() => '?').join(', ')})`,
  values,
})

const toExceptionCondition = (exceptions: readonly OrderException[]): SqlFragment =>
  toInCondition(
    'exception',
    exceptions.map((name) => EXCEPTION_CODES[name]),
  )

/** Queries for the numbers in a JSON array. */
const ID_LISTS = {
  sqlite: 'SELECT value FROM json_each(?)',
  postgres: 'SELECT value::bigint FROM json_array_elements_text(?::json)',
}

/** Matches the JSON text: quotes inside values are escaped, so only the field itself matches. */
const toMethodCondition = (methods: readonly PaymentMethod[]): SqlFragment => ({
  sql: `(${methods.map(() => 'checkout LIKE ?').join(' OR ')})`,
  values: methods.map((method) => `%"paymentMethod":"${method}"%`),
})

/** The conditions of all filters except the search. */
export function toConditions(
  filters: OrderFilters,
  calendar: DayCalendar,
  engine: keyof typeof ID_LISTS = 'sqlite',
): SqlFragment[] {
  const { status = [], calculatorType = [], exception = [], currency, from, to } = filters
  const { origin = [], paymentMethod = [], ids } = filters
  const conditions: SqlFragment[] = []
  if (status.length > 0) conditions.push(toInCondition('status', status.map(toStatusCode)))
  if (calculatorType.length > 0) {
    conditions.push(toInCondition('calculator_type', calculatorType.map(toCalculatorCode)))
  }
  if (exception.length > 0) conditions.push(toExceptionCondition(exception))
  if (origin.length > 0) conditions.push(toInCondition('origin', origin))
  if (paymentMethod.length > 0) {
    conditions.push({ sql: "origin = 'guest'", values: [] }, toMethodCondition(paymentMethod))
  }
  if (ids !== undefined) {
    conditions.push({ sql: `orders.id IN (${ID_LISTS[engine]})`, values: [JSON.stringify(ids)] })
  }
  if (currency !== undefined) conditions.push({ sql: 'currency = ?', values: [currency] })
  if (from !== undefined || to !== undefined) {
    const { since, until } = toTimeRange(toDayRange(filters), calendar)
    conditions.push({ sql: 'placed_at >= ? AND placed_at < ?', values: [since, until] })
  }
  return conditions
}

export const toWhere = (conditions: readonly { sql: string }[]): string =>
  conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`

export const toValues = <Value>(conditions: readonly SqlFragment<Value>[]): Value[] =>
  conditions.flatMap(({ values }) => values)

/** A query for the number of orders that match filters by day, status and currency only. */
export function toTotalsQuery({ status = [], currency, ...days }: OrderFilters): SqlFragment {
  const { from, to } = toDayRange(days)
  const conditions: SqlFragment[] = []
  if (from !== null) conditions.push({ sql: 'day >= ?', values: [from] })
  if (to !== null) conditions.push({ sql: 'day <= ?', values: [to] })
  if (status.length > 0) conditions.push(toInCondition('status', status.map(toStatusCode)))
  if (currency !== undefined) conditions.push({ sql: 'currency = ?', values: [currency] })
  return {
    sql: `SELECT CAST(coalesce(sum(orders), 0) AS BIGINT) AS count
      FROM order_totals ${toWhere(conditions)}`,
    values: toValues(conditions),
  }
}
