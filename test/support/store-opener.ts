import { setTimeout as sleep } from 'node:timers/promises'
import { openSqliteOrderStore } from '../../src/order-store/sqlite/sqlite-order-store.js'
import { newOrder } from './order-store.js'

/* A process that opens the order books whose paths it is sent, writes an order to each, and says how that went. */
let last = Promise.resolve()

async function open(path: string): Promise<void> {
  await sleep(Math.random() * 10)
  const book = openSqliteOrderStore({ path, timeZone: 'UTC' })
  await book.create(newOrder(), 'an opener')
  await book.close()
}

process.on('message', (path: string) => {
  last = last
    .then(() => open(path))
    .then(
      () => 'done',
      (error: unknown) => String(error),
    )
    .then((outcome) => void process.send?.(outcome))
})
process.send?.('ready')
