import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import {
  createBackOff,
  createRequestBudget,
  type Priority,
} from '../../src/nocodb/request-budget.js'

t.test('limits the requests in any second', async (t) => {
  const budget = createRequestBudget(20)
  const started: number[] = []
  const acquire = async (): Promise<void> => {
    await budget.acquire('urgent')
    started.push(performance.now())
  }
  const first = Array.from({ length: 30 }, acquire)
  await sleep(700)
  await Promise.all([...first, ...Array.from({ length: 25 }, acquire)])
  started.forEach((at, i) => {
    const twentieth = started[i + 20]
    // On a busy machine a request may start late, but not early.
    if (twentieth !== undefined) t.ok(twentieth - at >= 800, `${twentieth - at} ms`)
  })
  t.ok((started.at(-1) ?? 0) - (started[0] ?? 0) < 4_500, 'uses the whole budget')
})

t.test('supports fractional limits', async (t) => {
  const started: number[] = []
  const budget = createRequestBudget(2.5)
  await Promise.all(
    Array.from({ length: 5 }, async () => {
      await budget.acquire('urgent')
      started.push(performance.now())
    }),
  )
  t.ok((started[4] ?? 0) - (started[0] ?? 0) >= 1_400)
})

t.test('sends urgent requests first without starving background requests', async (t) => {
  const budget = createRequestBudget(100)
  const order: string[] = []
  budget.pause(50)
  const acquire = async (priority: Priority): Promise<void> => {
    await budget.acquire(priority)
    order.push(priority)
  }
  await Promise.all([
    ...Array.from({ length: 3 }, () => acquire('background')),
    ...Array.from({ length: 20 }, () => acquire('urgent')),
  ])
  t.strictSame(order.slice(0, 8), Array(8).fill('urgent'))
  t.equal(order[8], 'background')
  t.equal(order[17], 'background')
  t.equal(order.length, 23)
})

t.test('removes an aborted request from the queue', async (t) => {
  const budget = createRequestBudget(100)
  budget.pause(3_000)
  await t.rejects(budget.acquire('urgent', AbortSignal.timeout(20)))
  await t.rejects(budget.acquire('urgent', AbortSignal.abort()))
  t.ok(budget.getPauseMs() > 0)
  await budget.acquire('background')
  t.equal(budget.getPauseMs(), 0)
})

t.test('backs off exponentially with jitter up to a maximum', async (t) => {
  const backOff = createBackOff({ minMs: 100, maxMs: 1_000 })
  const delays = Array.from({ length: 40 }, () => backOff.nextDelayMs())
  delays.forEach((ms, i) => {
    const maxMs = Math.min(100 * 2 ** i, 1_000)
    t.ok(ms >= maxMs / 2 && ms <= maxMs)
  })
  t.ok(new Set(delays.slice(10)).size > 20)
  backOff.reset()
  t.ok(backOff.nextDelayMs() <= 100)
})
