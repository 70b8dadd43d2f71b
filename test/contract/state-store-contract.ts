import type { Test } from 'tap'
import type { KeyValueStore } from '../../src/database/state-store/state-store.js'
import { waitUntil } from '../support/wait-for.js'

/** Tests that apply to every state store. */
export function testStateStore(t: Test, store: KeyValueStore): void {
  t.test('a key expires', async (t) => {
    await store.set('guest', 2_000)
    t.equal(await store.has('guest'), true)
    t.equal(await store.has('stranger'), false)
    t.ok(await waitUntil(async () => !(await store.has('guest'))))
  })

  t.test('a budget can be consumed, refunded, and is restored after its window', async (t) => {
    const budget = { limit: 2, windowMs: 3_000 }
    const take = () => store.consume('budget', budget)
    t.same([await take(), await take()], [0, 0])
    const wait = await take()
    t.ok(wait > 0 && wait <= 3_000)
    await store.refund('budget')
    t.equal(await take(), 0)
    t.ok((await take()) > 0)
    t.ok(await waitUntil(async () => (await take()) === 0))
  })

  t.test('refunds no more than was consumed', async (t) => {
    const budget = { limit: 1, windowMs: 10_000 }
    await store.refund('never')
    await store.refund('never')
    t.equal(await store.consume('never', budget), 0)
    t.ok((await store.consume('never', budget)) > 0)
  })

  t.test('concurrent callers cannot exceed a budget', async (t) => {
    const takes = Array.from({ length: 50 }, () =>
      store.consume('crowd', { limit: 7, windowMs: 10_000 }),
    )
    t.equal((await Promise.all(takes)).filter((wait) => wait === 0).length, 7)
  })
}
