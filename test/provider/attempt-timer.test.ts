import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { createAttemptTimer } from '../../src/provider/fulfilment/placement.js'

t.test('forgets attempts that can no longer be in progress', async (t) => {
  const timer = createAttemptTimer(500)
  timer.start('a')
  timer.start('b')
  t.equal(timer.count(), 2)
  await sleep(600)
  timer.start('c')
  t.equal(timer.count(), 1)
})
