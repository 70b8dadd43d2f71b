import { writeSync } from 'node:fs'
import { getTransitions } from '../../src/orders/order-status.js'
import { newOrder } from './order-store.js'
import { openFileStore } from './stores.js'

/*
 * A process that writes to an order database until it is killed. It prints a line `id version` for
 * each acknowledged write.
 */
const [path = '', timeZone = 'UTC'] = process.argv.slice(2)
const store = await openFileStore({ path, timeZone })
const by = 'writer@example.com'
const context = { by, ifVersions: null }
const ids: string[] = []
const random = (below: number) => Math.floor(Math.random() * below)

for (;;) {
  const id = ids[random(ids.length)]
  if (id === undefined || random(3) === 0) {
    const placedAt = new Date(Date.now() - random(1e10)).toISOString()
    const currency = ['EUR', 'USD', 'JPY'][random(3)] ?? 'EUR'
    const created = await store.create(
      newOrder({ placedAt, currency, co2eKg: random(1e6) / 7, amountMinor: random(1e6) }),
      by,
      `key ${process.pid} ${random(1e9)}`,
    )
    if (created.outcome === 'idempotency_key_reused') continue
    ids.push(created.order.id)
    writeSync(1, `${created.order.id} ${created.order.version}\n`)
  } else {
    const order = await store.get(id)
    const transitions = order === null ? [] : getTransitions(order)
    const status = transitions.find(() => random(2) === 0)
    const changes = {
      co2eKg: random(1e6) / 3,
      notes: `${random(1e9)}`,
      ...(status === undefined ? {} : { status }),
    }
    const result = await store.apply(
      id,
      random(4) === 0 ? { type: 'cancel' } : { type: 'edit', changes },
      context,
    )
    if (result.outcome === 'changed') writeSync(1, `${id} ${result.order.version}\n`)
  }
}
