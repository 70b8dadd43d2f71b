import { importStagedOrders } from '../orders/store/sqlite/import-staged-orders.js'
import { openDatabase } from '../database/open-database.js'
import { openStagedOrders } from '../orders/store/sqlite/staged-orders.js'
import { createDemoOrders } from './orders.js'

/** Adds the demo orders to an empty order store; returns whether it was empty. */
export function seedOrderStore(path: string, now = new Date()): boolean {
  const db = openDatabase(path)
  try {
    if (db.prepare('SELECT 1 FROM orders LIMIT 1').get() !== undefined) return false
    const staged = openStagedOrders(db)
    let line = 0
    for (const { order, by, history } of createDemoOrders({ now })) {
      staged.claim(++line, order.id, order.orderNumber)
      staged.add(line, order, by, history)
    }
    return importStagedOrders(db, staged, { maxConflicts: 1 }).outcome === 'imported'
  } finally {
    db.close()
  }
}
