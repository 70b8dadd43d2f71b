import { enterStagedOrders } from '../book/enter-staged-orders.js'
import { openDatabase } from '../book/open-database.js'
import { stagedOrders } from '../book/staged-orders.js'
import { demoOrders } from './demo-orders.js'

/** Fills an order book with orders of the demonstration, unless it has orders; tells whether it did. */
export function seedDemoBook(path: string, now = new Date()): boolean {
  const db = openDatabase(path)
  try {
    if (db.prepare('SELECT 1 FROM orders LIMIT 1').get() !== undefined) return false
    const staged = stagedOrders(db)
    let line = 0
    for (const { order, by, history } of demoOrders({ now })) {
      staged.claim(++line, order.id, order.orderNumber)
      staged.add(line, order, by, history)
    }
    return enterStagedOrders(db, staged, { mostClashes: 1 }).outcome === 'entered'
  } finally {
    db.close()
  }
}
