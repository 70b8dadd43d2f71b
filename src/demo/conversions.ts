import type { Database } from '../database/database.js'
import type { DayCalendar } from '../core/formatting/day-calendar.js'
import { createConversionCounter } from '../checkout/conversions.js'
import type { DemoOrder } from './orders.js'

/** Approximate number of results viewed, and of codes scanned, per guest order */
const RESULTS_PER_ORDER = 3
const SCANS_PER_ORDER = 5

/**
 * Adds the conversion counts of the demo: the guest orders, and for each of them, several scans and
 * viewed results.
 */
export async function addConversions(
  database: Database,
  calendar: DayCalendar,
  orders: Iterable<DemoOrder>,
): Promise<void> {
  const { consume } = createConversionCounter(database, calendar)
  const guests = [...orders].filter(({ order }) => order.origin === 'guest')
  await database.write(async (tx) => {
    for (const [i, { order, history }] of guests.entries()) {
      const isPaid = history.some(({ changes }) => changes.some(({ to }) => to === 'paid'))
      const counted = isPaid ? { ...order, status: 'paid' as const } : order
      await consume(tx, { id: i, at: order.updatedAt, previousStatus: null, order: counted })
      const day = calendar.dayOf(Date.parse(order.placedAt))
      for (const [step, count] of [
        ['scan', SCANS_PER_ORDER],
        ['result', RESULTS_PER_ORDER],
      ] as const) {
        await tx.query(
          `INSERT INTO conversion_counts (day, step, count) VALUES (?, ?, ?)
           ON CONFLICT (day, step) DO UPDATE SET count = conversion_counts.count + excluded.count`,
          [day, step, count + (i % 3)],
        )
      }
    }
  })
}
