import t from 'tap'
import { listVersions } from '../../src/orders/accepted-terms.js'
import { applyChanges, cancelOrder, createFirstVersion } from '../../src/orders/change-order.js'
import { undoLastChange } from '../../src/orders/order-command.js'
import type { HistoryEntry, Order } from '../../src/orders/order.js'
import { newOrder } from '../support/order-store.js'

const getTime = (hour: number): string => new Date(Date.UTC(2026, 0, 1, hour)).toISOString()

t.test('earlier versions of an order are rebuilt from its history', async (t) => {
  const first = createFirstVersion(newOrder(), getTime(0))
  let order: Order = { ...first, id: '1', orderNumber: 'CW-000001' }
  const versions = [order]
  const history: HistoryEntry[] = []
  const steps = [
    (now: string) => applyChanges(order, { status: 'paid', notes: 'At the desk' }, now),
    (now: string) => applyChanges(order, { co2eKg: 2.5, vesselName: null }, now),
    (now: string) => applyChanges(order, { status: 'fulfilled', orderSourceId: '7' }, now),
    (now: string) => cancelOrder(order, now),
    (now: string) => undoLastChange(order, history.toReversed(), now),
    (now: string) => applyChanges(order, { status: 'refunded' }, now),
  ]
  for (const [i, step] of steps.entries()) {
    const at = getTime(i + 1)
    const result = step(at)
    if (result.outcome !== 'changed') throw new Error(`step ${i} changed nothing`)
    ;({ order } = result)
    versions.push(order)
    history.push({ at, by: 'ann', version: order.version, changes: result.changes })
  }
  t.same(listVersions(order, history, 0), versions)
  t.same(listVersions(order, history, 3), versions.slice(3))
  const versionsLeft = listVersions(order, history.slice(4), 0).map(({ version }) => version)
  t.same(versionsLeft, [5, 6, 7], 'as far as the history goes')
  t.same(listVersions(order, [], 0), [order])
})
