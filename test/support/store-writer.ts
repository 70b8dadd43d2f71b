import { writeSync } from 'node:fs'
import { openSqliteOrderStore } from '../../src/order-store/sqlite/sqlite-order-store.js'
import { getTransitions } from '../../src/orders/order-status.js'
import { newOrder } from './order-store.js'

/*
 * A process that writes to an order book until it is killed, and says on standard output what
 * has been acknowledged to it: `id version`, a line for each write.
 */
const [path = '', timeZone = 'UTC'] = process.argv.slice(2)
const book = openSqliteOrderStore({ path, timeZone })
const context = { by: 'a writer', ifVersions: null }
const ids: string[] = []
const random = (below: number) => Math.floor(Math.random() * below)

for (;;) {
  const id = ids[random(ids.length)]
  if (id === undefined || random(3) === 0) {
    const placedAt = new Date(Date.now() - random(1e10)).toISOString()
    const currency = ['EUR', 'USD', 'JPY'][random(3)] ?? 'EUR'
    const created = await book.create(
      newOrder({ placedAt, currency, co2eKg: random(1e6) / 7, amountMinor: random(1e6) }),
      'a writer',
      `key ${process.pid} ${random(1e9)}`,
    )
    if (created.outcome === 'idempotency_key_reused') continue
    ids.push(created.order.id)
    writeSync(1, `${created.order.id} ${created.order.version}\n`)
  } else {
    const order = book.get(id)
    const moves =
      order === null ? [] : getTransitions(order.status).filter((to) => to !== 'cancelled')
    const status = moves[random(moves.length)]
    const changed =
      random(4) === 0
        ? await book.apply(id, { type: 'cancel' }, context)
        : await book.apply(
            id,
            {
              type: 'edit',
              changes: {
                co2eKg: random(1e6) / 3,
                notes: `${random(1e9)}`,
                ...(status ? { status } : {}),
              },
            },
            context,
          )
    if (changed.outcome === 'changed') writeSync(1, `${id} ${changed.order.version}\n`)
  }
}
