import { setImmediate } from 'node:timers/promises'
import { Problem } from '../../core/http/problem.js'
import { MINUTE_MS } from '../../core/time.js'
import type { Database, Queryable } from '../../database/database.js'
import type { Order } from '../order.js'
import { DIALECTS, type Dialect } from './dialect.js'
import { readOrder, readOrdersAfter } from './order-records.js'

/**
 * Writes what a feature derives from an order to its tables, in place of what it wrote for an
 * earlier version of the same order.
 */
export type Projection = (tx: Queryable, order: Order) => Promise<unknown>

const BATCH_SIZE = 100

/**
 * Projects all orders from an ID on again, because some of them were written without events. Call
 * it in the same transaction, after the orders are written.
 */
export async function rewindProjections(
  tx: Queryable,
  dialect: Dialect,
  firstId: number,
): Promise<void> {
  await dialect.lockTable(tx, 'projections')
  await tx.query('UPDATE projections SET position = ? WHERE position >= ?', [firstId - 1, firstId])
}

/**
 * Keeps the tables that features derive from orders up to date, with the events of orders and, for
 * orders without events, by walking through the orders by ID. Every order is read after a lock is
 * taken, so that no process overwrites a later version.
 */
export function createProjections(database: Database) {
  const dialect = DIALECTS[database.engine]

  /** Projects the next orders of the walk. */
  const step = (name: string, project: Projection): Promise<void> =>
    database.write(async (tx) => {
      await dialect.lockTable(tx, 'projections')
      const [row] = await tx.query<{ position: number }>(
        `INSERT INTO projections VALUES (?, 0)
         ON CONFLICT (name) DO UPDATE SET position = projections.position RETURNING position`,
        [name],
      )
      const orders = await readOrdersAfter(tx, row?.position ?? 0, BATCH_SIZE)
      for (const order of orders) await project(tx, order)
      const last = orders.at(-1)
      if (last !== undefined) {
        const values = [Number(last.id), name]
        await tx.query('UPDATE projections SET position = ? WHERE name = ?', values)
      }
    })

  return {
    /** Projects an order as it is now. */
    async projectOrder(tx: Queryable, id: string, project: Projection): Promise<void> {
      await dialect.lockTable(tx, 'projections')
      const order = await readOrder(tx, Number(id))
      if (order !== null) await project(tx, order)
    },

    /**
     * Throws a Problem (503) until the walk has passed all orders that are older than a minute;
     * newer ones have events.
     */
    async check(name: string): Promise<void> {
      const behind = await database.query(
        `SELECT 1 FROM orders WHERE id > coalesce(
          (SELECT position FROM projections WHERE name = ?), 0) AND created_at < ? LIMIT 1`,
        [name, Date.now() - MINUTE_MS],
      )
      if (behind.length === 0) return
      throw new Problem(503, 'All orders are being read for this page. Try again in a minute.', {
        headers: { 'retry-after': '60' },
      })
    },

    /** Continues the walk to the last order; an order that fails stops it. */
    async walk(name: string, project: Projection): Promise<void> {
      const next = `SELECT 1 FROM orders WHERE id > coalesce(
        (SELECT position FROM projections WHERE name = ?), 0) LIMIT 1`
      while ((await database.query(next, [name])).length > 0) {
        await step(name, project)
        await setImmediate() // other requests are served
      }
    },

    /** Forgets the projections of features that are off now: they miss the events of orders. */
    async forgetOthers(names: readonly string[]): Promise<void> {
      const { sql, values } = dialect.isNoneOf('name', names)
      await database.query(`DELETE FROM projections WHERE ${sql}`, values)
    },
  }
}
