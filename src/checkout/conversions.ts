import type { Day, DayCalendar } from '../core/formatting/day-calendar.js'
import type { Database } from '../database/database.js'
import type { EventConsumer } from '../orders/order-events/event-dispatcher.js'
import { hasBeenPaid } from '../orders/order-status.js'

/** Actions of guests. They are counted anonymously. The steps are stored, so never rename one. */
type CountedStep = 'scan' | 'result'

/** How often guests reached each step. A payment is counted on the day of its order. */
interface Conversions {
  scans: number
  results: number
  orders: number
  /** Orders that were paid, even if they were refunded later */
  paidOrders: number
}

/** Counts how many scans become results, orders and payments. */
export function createConversionCounter(database: Database, calendar: DayCalendar) {
  /**
   * Counts since the last flush, by day and step. Kept in memory, so that no request waits for the
   * database.
   */
  let counts = new Map<string, number>()

  const add = (key: string, count: number): void =>
    void counts.set(key, (counts.get(key) ?? 0) + count)

  return {
    count: (step: CountedStep): void => add(`${calendar.dayOf(Date.now())} ${step}`, 1),

    /** Stores the counts since the last flush. Call it regularly, and before the service stops. */
    async flush(): Promise<void> {
      if (counts.size === 0) return
      const stored = counts
      counts = new Map()
      try {
        await database.write(async (tx) => {
          for (const [key, count] of [...stored].sort()) {
            const [day = '', step = ''] = key.split(' ')
            await tx.query(
              `INSERT INTO conversion_counts (day, step, count) VALUES (?, ?, ?)
               ON CONFLICT (day, step) DO UPDATE SET count = conversion_counts.count + excluded.count`,
              [Number(day), step, count],
            )
          }
        })
      } catch (error) {
        for (const [key, count] of stored) add(key, count)
        throw error
      }
    },

    /** Records guest orders. An event may arrive twice. */
    consume: (async (tx, { order: { id, origin, placedAt, status } }) => {
      if (origin !== 'guest') return
      const day = calendar.dayOf(Date.parse(placedAt))
      await tx.query(
        `INSERT INTO conversion_orders (order_id, day, is_paid) VALUES (?, ?, ?)
         ON CONFLICT (order_id) DO UPDATE SET is_paid = excluded.is_paid
         WHERE excluded.is_paid > conversion_orders.is_paid`,
        [id, day, hasBeenPaid(status) ? 1 : 0],
      )
    }) satisfies EventConsumer,

    /** Reads the conversions from the first to the last day, inclusive. */
    async read(from: Day, to: Day): Promise<Conversions> {
      const counted = await database.query<{ step: string; count: number | string }>(
        `SELECT step, sum(count) AS count FROM conversion_counts WHERE day BETWEEN ? AND ?
         GROUP BY step`,
        [from, to],
      )
      const [orders] = await database.query<{ orders: number; paid: number | string | null }>(
        `SELECT count(*) AS orders, sum(is_paid) AS paid FROM conversion_orders
         WHERE day BETWEEN ? AND ?`,
        [from, to],
      )
      // PostgreSQL returns sums of 64-bit integers as strings.
      const getCount = (step: CountedStep) =>
        Number(counted.find((row) => row.step === step)?.count ?? 0)
      return {
        scans: getCount('scan'),
        results: getCount('result'),
        orders: orders?.orders ?? 0,
        paidOrders: Number(orders?.paid ?? 0),
      }
    },
  }
}

export type ConversionCounter = ReturnType<typeof createConversionCounter>
