import { parseDay, type Day, type DayCalendar } from '../../core/formatting/day-calendar.js'
import type { SqlValue } from '../../database/database.js'
import type { PaymentMethod } from '../order-checkout.js'
import type { OrderFilters, OrderSort, SortField } from '../order-filters.js'
import type { Dialect, SqlFragment } from './dialect.js'
import { EXCEPTION_CODES, toCalculatorCode, toStatusCode } from './order-row.js'

/** A range of days, including both ends; `null` leaves an end open. */
export interface DayRange {
  from: Day | null
  to: Day | null
}

/** A range of timestamps, ms since 1970; `until` is excluded. */
interface TimeRange {
  since: number
  until: number
}

const SORTS: Record<SortField, { index: string; columns: readonly string[] }> = {
  placedAt: { index: 'orders_by_placed_at', columns: ['placed_at'] },
  orderNumber: { index: 'orders_by_order_number', columns: ['order_number_key'] },
  customerName: { index: 'orders_by_customer_name', columns: ['customer_name_key'] },
  vesselName: { index: 'orders_by_vessel_name', columns: ['vessel_name_key'] },
  co2eKg: { index: 'orders_by_co2e_kg', columns: ['co2e_kg'] },
  // Amounts can be compared only within a currency.
  amountMinor: { index: 'orders_by_amount_minor', columns: ['currency', 'amount_minor'] },
  status: { index: 'orders_by_status', columns: ['status'] },
}

/** The index that contains the columns of a sort order, and those of all filters. */
export const getSortIndex = (sort: OrderSort): string => SORTS[parseSort(sort).field].index

export const getSortColumns = (sort: OrderSort): readonly string[] =>
  SORTS[parseSort(sort).field].columns

const parseSort = (sort: OrderSort): { field: SortField; descending: boolean } =>
  sort.startsWith('-')
    ? { field: sort.slice(1) as SortField, descending: true }
    : { field: sort as SortField, descending: false }

/** @param isReversed sorts in the opposite direction */
export function toOrderBy(sort: OrderSort, isReversed = false): string {
  const direction = parseSort(sort).descending === isReversed ? 'ASC' : 'DESC'
  const columns = [...getSortColumns(sort), 'orders.id']
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

/** A condition for a short list of values; for long ones, see the dialect. */
export const isIn = (column: string, values: (string | number)[]): SqlFragment => ({
  sql: `${column} IN (${values.map(() => '?').join(', ')})`,
  values,
})

/** Matches the JSON text: quotes inside values are escaped, so only the field itself matches. */
const toMethodCondition = (methods: readonly PaymentMethod[]): SqlFragment => ({
  sql: `(${methods.map(() => 'checkout LIKE ?').join(' OR ')})`,
  values: methods.map((method) => `%"paymentMethod":"${method}"%`),
})

/** The conditions of all filters except the search. */
export function toConditions(
  filters: OrderFilters,
  calendar: DayCalendar,
  dialect: Dialect,
): SqlFragment[] {
  const { status = [], calculatorType = [], exception = [], currency, from, to } = filters
  const { origin = [], paymentMethod = [], ids } = filters
  const conditions: SqlFragment[] = []
  if (status.length > 0) conditions.push(isIn('status', status.map(toStatusCode)))
  if (calculatorType.length > 0) {
    conditions.push(isIn('calculator_type', calculatorType.map(toCalculatorCode)))
  }
  if (exception.length > 0) {
    const codes = exception.map((name) => EXCEPTION_CODES[name])
    conditions.push(isIn('exception', codes))
  }
  if (origin.length > 0) conditions.push(isIn('origin', origin))
  if (paymentMethod.length > 0) {
    conditions.push({ sql: "origin = 'guest'", values: [] }, toMethodCondition(paymentMethod))
  }
  if (ids !== undefined) conditions.push(dialect.isOneOf('orders.id', ids))
  if (currency !== undefined) conditions.push({ sql: 'currency = ?', values: [currency] })
  if (from !== undefined || to !== undefined) {
    const { since, until } = toTimeRange(toDayRange(filters), calendar)
    conditions.push({ sql: 'placed_at >= ? AND placed_at < ?', values: [since, until] })
  }
  return conditions
}

/** Joins conditions with AND or OR, in parentheses. */
export const join = (conditions: readonly SqlFragment[], operator: 'AND' | 'OR'): SqlFragment => ({
  sql: `(${conditions.map(({ sql }) => sql).join(` ${operator} `)})`,
  values: toValues(conditions),
})

export const toWhere = (conditions: readonly { sql: string }[]): string =>
  conditions.length === 0 ? '' : `WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`

export const toValues = (conditions: readonly SqlFragment[]): SqlValue[] =>
  conditions.flatMap(({ values }) => values)
