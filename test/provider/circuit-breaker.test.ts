import fc from 'fast-check'
import t, { type Test } from 'tap'
import { createCircuitBreaker } from '../../src/provider/upstream.js'

/** Replaces the monotonic clock; returns a function that advances it. */
function mockClock(t: Test): (milliseconds: number) => void {
  let now = 0
  const restore = t.intercept(performance, 'now', { value: () => now })
  t.teardown(() => restore.restore())
  return (milliseconds) => {
    now += milliseconds
  }
}

t.test('opens after consecutive failures, then allows one probe at a time', (t) => {
  const advance = mockClock(t)
  const breaker = createCircuitBreaker()
  t.equal(breaker.state(), 'no requests yet')
  for (let i = 0; i < 4; i++) {
    t.ok(breaker.allowRequest())
    breaker.failed()
  }
  t.equal(breaker.state(), 'unreachable')
  t.ok(breaker.allowRequest())
  breaker.succeeded()
  t.equal(breaker.state(), 'reachable')
  for (let i = 0; i < 5; i++) {
    t.ok(breaker.allowRequest(), 'a success resets the count')
    breaker.failed()
  }
  t.notOk(breaker.allowRequest())
  t.equal(breaker.retryAfter(), 3)
  advance(2_999)
  t.notOk(breaker.allowRequest())
  t.equal(breaker.retryAfter(), 1)
  advance(1)
  t.ok(breaker.allowRequest(), 'a probe')
  t.notOk(breaker.allowRequest(), 'only one')
  breaker.release()
  t.ok(breaker.allowRequest(), 'another probe after an inconclusive one')
  breaker.failed()
  t.notOk(breaker.allowRequest())
  advance(3_000)
  t.ok(breaker.allowRequest())
  breaker.succeeded()
  t.ok(breaker.allowRequest())
  t.ok(breaker.allowRequest())
  t.end()
})

t.test('allows a request eventually, in any sequence of results', (t) => {
  const advance = mockClock(t)
  const step = fc.constantFrom('allow', 'succeeded', 'failed', 'release', 'wait')
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      let pending = 0
      const breaker = createCircuitBreaker()
      for (const name of steps) {
        if (name === 'wait') advance(1_000)
        else if (name === 'allow') pending += breaker.allowRequest() ? 1 : 0
        else if (pending > 0) {
          pending--
          breaker[name]()
        }
      }
      for (; pending > 0; pending--) breaker.failed()
      advance(3_000)
      return breaker.allowRequest()
    }),
    { numRuns: 1_000 },
  )
  t.end()
})
