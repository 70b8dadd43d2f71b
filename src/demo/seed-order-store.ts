import type { Database } from '../database/database.js'
import { importMany } from '../orders/store/import-many.js'
import { StagedOrders } from '../orders/store/staged-orders.js'
import { createDemoOrders } from './orders.js'

/** Adds the demo orders to an empty order store; returns whether it was empty. */
export async function seedOrderStore(database: Database, now = new Date()): Promise<boolean> {
  const existing = await database.query('SELECT 1 FROM orders LIMIT 1')
  if (existing.length > 0) return false
  const staged = new StagedOrders()
  let line = 0
  for (const { order, by, history } of createDemoOrders({ now })) {
    staged.claim(++line, order.id, order.orderNumber)
    staged.add({ order, by, history })
  }
  return (await importMany(database, staged, { maxConflicts: 1 })).total === 0
}
