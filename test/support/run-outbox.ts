import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import type { OutboxWorker } from '../../src/outbox/outbox.js'

/** Sends what is due every 5 ms, until the test ends or the returned function is called. */
export function runOutbox(t: Test, worker: OutboxWorker): () => Promise<void> {
  const stopping = new AbortController()
  const loop = (async () => {
    while (!stopping.signal.aborted) {
      await worker.sendDue()
      await sleep(5)
    }
  })()
  const stop = async () => {
    stopping.abort()
    await loop
    await worker.close()
  }
  t.teardown(stop)
  return stop
}
