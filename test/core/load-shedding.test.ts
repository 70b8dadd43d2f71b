import t from 'tap'
import { startApp } from '../support/app.js'

const REQUESTS = 40
const BLOCK_MS = 60

function blockEventLoop(): void {
  const end = performance.now() + BLOCK_MS
  while (performance.now() < end);
}

t.test(
  'rejects requests under overload even if the overload page cannot be rendered',
  async (t) => {
    const { app, log } = await startApp(t, { SHED_AFTER_MS: '50' })
    app.view = () => Promise.reject(new Error('template error'))
    const timer = setInterval(blockEventLoop, 0)
    const responses = await Promise.all(
      Array.from({ length: REQUESTS }, () => app.inject('/healthz-missing')),
    )
    clearInterval(timer)
    const rejected = responses.filter(({ statusCode }) => statusCode === 503)
    t.ok(rejected.length > 0, `${rejected.length} rejected`)
    t.ok(rejected.every(({ payload }) => payload.includes('busy')))
    t.equal(log.filter(({ statusCode }) => statusCode === 503).length, rejected.length)
  },
)
