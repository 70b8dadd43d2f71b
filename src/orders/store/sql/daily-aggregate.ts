import type { Granularity } from '../../../core/formatting/day-calendar.js'
import type { OrderRow } from './order-row.js'

/** The columns of an order that are aggregated. */
export type AggregatedRow = Pick<
  OrderRow,
  'status' | 'calculator_type' | 'currency' | 'co2e_kg' | 'amount_minor' | 'placed_at'
>

export type AggregatePeriod = Granularity | 'all'

/** Codes of the `step` column of the aggregates. The codes are stored, so never change one. */
export const PERIOD_CODES = { day: 0, week: 1, month: 2, all: 3 } as const satisfies Record<
  AggregatePeriod,
  number
>
export const PERIODS = Object.keys(PERIOD_CODES) as AggregatePeriod[]

/** CO2e is added up in whole milligrams, so that sums are exact. */
export const MG_PER_KG = 1_000_000

export const toMilligrams = (kg: number): number => Math.round(kg * MG_PER_KG)

/** Number of orders with the same status, calculator and currency. */
export interface GroupCount {
  status: number
  calculator_type: number
  currency: string
  orders: number
}

export const countOrders = (groups: readonly GroupCount[]): number =>
  groups.reduce((sum, { orders }) => sum + orders, 0)
