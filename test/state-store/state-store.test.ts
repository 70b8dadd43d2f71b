import Fastify from 'fastify'
import t from 'tap'
import { openStateFile } from '../../src/state-store/state-file.js'
import { openMemoryStore } from '../../src/state-store/memory-store.js'
import { connectRedisStore } from '../../src/state-store/redis-store.js'
import { temporaryFolder } from '../support/app.js'
import { testRedis } from '../support/redis.js'
import { waitUntil } from '../support/wait-for.js'

const { log } = Fastify()
const redis = await testRedis(t)
await redis.start()
const inProcess = openMemoryStore(openStateFile(temporaryFolder(t), log))
const inRedis = await connectRedisStore(redis.url, log)
t.teardown(() => {
  inProcess.close()
  inRedis.close()
})

for (const [where, memory] of [
  ['in the process', inProcess],
  ['in Redis', inRedis],
] as const) {
  t.test(`${where}: what is remembered is forgotten when its time is over`, async (t) => {
    await memory.set('guest', 2_000)
    t.equal(await memory.has('guest'), true)
    t.equal(await memory.has('stranger'), false)
    t.ok(await waitUntil(async () => !(await memory.has('guest'))))
  })

  t.test(`${where}: a budget is used up, given back, and there again after its time`, async (t) => {
    const budget = { limit: 2, windowMs: 3_000 }
    const take = () => memory.consume('budget', budget)
    t.same([await take(), await take()], [0, 0])
    const wait = await take()
    t.ok(wait > 0 && wait <= 3_000)
    await memory.refund('budget')
    t.equal(await take(), 0)
    t.ok((await take()) > 0)
    t.ok(await waitUntil(async () => (await take()) === 0))
  })

  t.test(`${where}: nothing is given back that was not taken`, async (t) => {
    const budget = { limit: 1, windowMs: 10_000 }
    await memory.refund('never')
    await memory.refund('never')
    t.equal(await memory.consume('never', budget), 0)
    t.ok((await memory.consume('never', budget)) > 0)
  })

  t.test(`${where}: of all who take at once, only as many get one as there are`, async (t) => {
    const takes = Array.from({ length: 50 }, () =>
      memory.consume('crowd', { limit: 7, windowMs: 10_000 }),
    )
    t.equal((await Promise.all(takes)).filter((wait) => wait === 0).length, 7)
  })
}

t.test(
  'counts that strangers cause do not fill the memory, nor displace a session’s end',
  async (t) => {
    const budget = { limit: 1, windowMs: 60_000 }
    await inProcess.set('ended', 60_000)
    await inProcess.consume('oldest', budget)
    await inProcess.consume('attacked', budget)
    for (let i = 0; i < 100_000; i++) {
      await inProcess.consume(`stranger ${i}`, budget)
      if (i % 1000 === 0) await inProcess.consume('attacked', budget)
    }
    t.equal(await inProcess.consume('oldest', budget), 0, 'the longest untouched is forgotten')
    t.ok((await inProcess.consume('attacked', budget)) > 0, 'except for addresses under attack')
    t.equal(await inProcess.has('ended'), true)
  },
)
