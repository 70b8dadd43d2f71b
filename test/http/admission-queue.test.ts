import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createAdmissionQueue } from '../../src/http/admission-queue.js'

const PATIENCE_MS = 60_000

/** Idle time between requests. */
const rest = () => sleep(20)

/** A queue that records which requests were served immediately, and the order of all. */
function startLine(hasCapacity = () => true) {
  const line = createAdmissionQueue({ maxWaitMs: PATIENCE_MS, hasCapacity })
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
  const { arrives, served } = startLine()
  await rest()
  t.notOk(arrives(), 'it may not be the last one')
  for (let i = 0; i < 3; i++) {
    await rest()
    t.ok(arrives())
  }
  await rest()
  t.same(served, [1, 2, 3, 4])
})

t.test('serves concurrent requests in batches, first in first out', async (t) => {
  const { arrives, served } = startLine()
  await rest()
  arrives()
  await rest()
  t.same(
    [arrives(), arrives(), arrives()],
    [true, false, false],
    'of the first they are unexpected',
  )
  await rest()
  t.same([arrives(), arrives(), arrives()], [false, false, false])
  await rest()
  t.same(served, [1, 2, 3, 4, 5, 6, 7])
  t.notOk(arrives())
  await rest()
  t.ok(arrives(), 'until a single one arrives')
})

t.test('does not skip the queue while requests are waiting', async (t) => {
  const { arrives, served } = startLine()
  await rest()
  arrives()
  for (let i = 0; i < 5; i++) {
    await nextTurn()
    t.notOk(arrives(), 'the event loop has not rested')
  }
  await rest()
  t.equal(served.length, 6)

  const hasCapacity = { now: true }
  const full = startLine(() => hasCapacity.now)
  await rest()
  full.arrives()
  await rest()
  hasCapacity.now = false
  t.notOk(full.arrives(), 'the queue is full')
  await rest()
  t.same(full.served, [1])
  hasCapacity.now = true
  await rest()
  t.same(full.served, [1, 2])
})
