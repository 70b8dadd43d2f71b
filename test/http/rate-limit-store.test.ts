import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { RequestCounts } from '../../src/http/rate-limit-store.js'

const MOST_CLIENTS = 5_000

t.test('of too many clients the one whose window began first is forgotten', async (t) => {
  const counts = new RequestCounts()
  const count = (client: string, windowMs = 60_000): number => {
    let result = { current: 0, ttl: 0 }
    counts.incr(client, (_error, told = result) => (result = told), windowMs)
    return result.current
  }
  t.equal(count('renewed', 1), 1)
  await sleep(5)
  t.equal(count('first'), 1)
  t.equal(count('renewed', 1), 1, 'a window that is over begins anew')
  for (let client = 2; client < MOST_CLIENTS; client++) count(String(client))
  t.equal(count('first'), 2)
  t.equal(count('renewed'), 2)
  count('one more')
  t.equal(count('renewed'), 3)
  t.equal(count('first'), 1, 'though it has been heard of since')
})
