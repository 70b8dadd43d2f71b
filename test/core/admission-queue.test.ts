import { performance } from 'node:perf_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createAdmissionQueue } from '../../src/core/server/load-shedding.js'

const MAX_WAIT_MS = 60_000

/** Waits until the event loop was idle, for which a busy machine may leave no time at first. */
async function idle(): Promise<void> {
  const before = performance.nodeTiming.idleTime
  do await sleep(20)
  while (performance.nodeTiming.idleTime - before < 1)
}

/** A queue that records which requests were served immediately, and the order of all. */
function startQueue(hasCapacity = () => true) {
  const line = createAdmissionQueue({ maxWaitMs: MAX_WAIT_MS, hasCapacity })
  const served: number[] = []
  let last = 0
  function arrives(): boolean {
    const number = ++last
    line.enqueue(
      () => served.push(number),
      () => undefined,
    )
    return served.at(-1) === number
  }
  return { arrives, served }
}

t.test('serves a single request immediately', async (t) => {
  const { arrives, served } = startQueue()
  await idle()
  t.notOk(arrives(), 'it may not be the last one')
  for (let i = 0; i < 3; i++) {
    await idle()
    t.ok(arrives())
  }
  await idle()
  t.same(served, [1, 2, 3, 4])
})

t.test('serves concurrent requests in batches, first in first out', async (t) => {
  const { arrives, served } = startQueue()
  await idle()
  arrives()
  await idle()
  t.same(
    [arrives(), arrives(), arrives()],
    [true, false, false],
    'of the first they are unexpected',
  )
  await idle()
  t.same([arrives(), arrives(), arrives()], [false, false, false])
  await idle()
  t.same(served, [1, 2, 3, 4, 5, 6, 7])
  t.notOk(arrives())
  await idle()
  t.ok(arrives(), 'until a single one arrives')
})

t.test('does not skip the queue while requests are waiting', async (t) => {
  const { arrives, served } = startQueue()
  await idle()
  arrives()
  for (let i = 0; i < 5; i++) {
    await nextTurn()
    t.notOk(arrives(), 'the event loop has not rested')
  }
  await idle()
  t.equal(served.length, 6)

  const hasCapacity = { now: true }
  const full = startQueue(() => hasCapacity.now)
  await idle()
  full.arrives()
  await idle()
  hasCapacity.now = false
  t.notOk(full.arrives(), 'the queue is full')
  await idle()
  t.same(full.served, [1])
  hasCapacity.now = true
  await idle()
  t.same(full.served, [1, 2])
})
