import { setTimeout as sleep } from 'node:timers/promises'
import { newOrder } from './order-store.js'
import { openFileStore } from './stores.js'

/* A process that receives paths of order databases, opens each, and creates an order in it. */
let last = Promise.resolve()

async function openAndCreate(path: string): Promise<void> {
  await sleep(Math.random() * 10)
  const store = await openFileStore({ path, timeZone: 'UTC' })
  await store.create(newOrder(), 'opener@example.com')
  await store.close()
}

process.on('message', (path: string) => {
  last = last
    .then(() => openAndCreate(path))
    .then(
      () => 'done',
      (error: unknown) => String(error),
    )
    .then((outcome) => void process.send?.(outcome))
})
process.send?.('ready')
