import type { Day, DayCalendar } from '../../core/formatting/day-calendar.js'
import { insertRows, type Queryable } from '../../database/database.js'
import type { OrderRow } from './order-row.js'

/** The columns of an order that are added up. */
export type CountedRow = Pick<
  OrderRow,
  'status' | 'currency' | 'co2e_kg' | 'amount_minor' | 'placed_at'
>

/** Totals of the orders that were placed on one day and have the same status and currency. */
export interface TotalsRow {
  day: Day
  status: number
  currency: string
  orders: number
  /** Whole kilograms and the remaining milligrams, so that sums are exact and do not overflow */
  co2e_kg: number
  co2e_mg: number
  amount_minor: number
}

export const MG_PER_KG = 1_000_000

/** Adds up orders by day, status and currency. */
export class TotalsSum {
  readonly #rows = new Map<string, TotalsRow>()

  constructor(readonly calendar: DayCalendar) {}

  /** @param sign 1 for an order that is added, -1 for one that is removed with the same values */
  add(row: CountedRow, sign: 1 | -1 = 1): void {
    const { status, currency, amount_minor } = row
    const day = this.calendar.dayOf(row.placed_at)
    const key = `${day} ${status} ${currency}`
    const total = this.#rows.get(key) ?? {
      ...{ day, status, currency },
      ...{ orders: 0, co2e_kg: 0, co2e_mg: 0, amount_minor: 0 },
    }
    const milligrams = Math.round(row.co2e_kg * MG_PER_KG)
    const kilograms = Math.floor(milligrams / MG_PER_KG)
    total.orders += sign
    total.co2e_kg += sign * kilograms
    total.co2e_mg += sign * (milligrams - kilograms * MG_PER_KG)
    total.amount_minor += sign * amount_minor
    this.#rows.set(key, total)
  }

  /** The totals that are not zero, sorted by key. */
  getRows(): TotalsRow[] {
    return [...this.#rows.values()]
      .filter((row) => row.orders !== 0 || hasAmounts(row))
      .sort((a, b) => a.day - b.day || a.status - b.status || (a.currency < b.currency ? -1 : 1))
  }
}

const hasAmounts = ({ co2e_kg, co2e_mg, amount_minor }: TotalsRow): boolean =>
  co2e_kg !== 0 || co2e_mg !== 0 || amount_minor !== 0

const COLUMNS = [
  'day',
  'status',
  'currency',
  'orders',
  'co2e_kg',
  'co2e_mg',
  'amount_minor',
] as const satisfies readonly (keyof TotalsRow)[]
const SUMS = COLUMNS.slice(3)

/**
 * Adds to the stored totals, in the caller's transaction. Must be its last step, because others that
 * change the same totals wait until it ends. The rows are sorted, so that no two transactions wait
 * for each other.
 */
export async function addTotals(tx: Queryable, sum: TotalsSum): Promise<void> {
  const added = SUMS.map((name) => `${name} = order_totals.${name} + excluded.${name}`)
  await insertRows(tx, 'order_totals', COLUMNS, sum.getRows(), {
    after: `ON CONFLICT (day, status, currency) DO UPDATE SET ${added.join(', ')}`,
  })
}

const ROWS_PER_READ = 5_000

/** Counts all orders again, for the days of another time zone. */
export async function recountTotals(tx: Queryable, calendar: DayCalendar): Promise<void> {
  const sum = new TotalsSum(calendar)
  let lastId: number | undefined = 0
  while (lastId !== undefined) {
    const rows: (CountedRow & { id: number })[] = await tx.query(
      `SELECT id, status, currency, co2e_kg, amount_minor, placed_at
       FROM orders WHERE id > ? ORDER BY id LIMIT ${ROWS_PER_READ}`,
      [lastId],
    )
    for (const row of rows) sum.add(row)
    lastId = rows.at(-1)?.id
  }
  await tx.query('DELETE FROM order_totals')
  await addTotals(tx, sum)
}
