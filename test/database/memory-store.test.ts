import t from 'tap'
import { openMemoryStore } from '../../src/database/state-store/state-store.js'
import { testStateStore } from '../contract/state-store-contract.js'

const store = openMemoryStore()

testStateStore(t, store)

t.test('counters that anyone can create do not fill the memory or evict keys', async (t) => {
  const budget = { limit: 1, windowMs: 60_000 }
  await store.set('known', 60_000)
  await store.consume('oldest', budget)
  await store.consume('attacked', budget)
  for (let i = 0; i < 100_000; i++) {
    await store.consume(`stranger ${i}`, budget)
    if (i % 1000 === 0) await store.consume('attacked', budget)
  }
  t.equal(await store.consume('oldest', budget), 0, 'evicts the least recently used counter')
  t.ok(
    (await store.consume('attacked', budget)) > 0,
    'keeps the counters of addresses under attack',
  )
  t.equal(await store.has('known'), true)
})
