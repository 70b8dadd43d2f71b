import Fastify from 'fastify'
import t from 'tap'
import { openStateFile } from '../../src/state-store/state-file.js'
import { openMemoryStore } from '../../src/state-store/memory-store.js'
import { connectRedisStore } from '../../src/state-store/redis-store.js'
import { temporaryFolder } from '../support/app.js'
import { testRedis } from '../support/redis.js'
import { comesTrue } from '../support/wait-for.js'

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
    await memory.remember('guest', 2_000)
    t.equal(await memory.remembers('guest'), true)
    t.equal(await memory.remembers('stranger'), false)
    t.ok(await comesTrue(async () => !(await memory.remembers('guest'))))
  })

  t.test(`${where}: a budget is used up, given back, and there again after its time`, async (t) => {
    const budget = { most: 2, windowMs: 3_000 }
    const take = () => memory.take('budget', budget)
    t.same([await take(), await take()], [0, 0])
    const wait = await take()
    t.ok(wait > 0 && wait <= 3_000)
    await memory.giveBack('budget')
    t.equal(await take(), 0)
    t.ok((await take()) > 0)
    t.ok(await comesTrue(async () => (await take()) === 0))
  })

  t.test(`${where}: nothing is given back that was not taken`, async (t) => {
    const budget = { most: 1, windowMs: 10_000 }
    await memory.giveBack('never')
    await memory.giveBack('never')
    t.equal(await memory.take('never', budget), 0)
    t.ok((await memory.take('never', budget)) > 0)
  })

  t.test(`${where}: of all who take at once, only as many get one as there are`, async (t) => {
    const takes = Array.from({ length: 50 }, () =>
      memory.take('crowd', { most: 7, windowMs: 10_000 }),
    )
    t.equal((await Promise.all(takes)).filter((wait) => wait === 0).length, 7)
  })
}

t.test(
  'counts that strangers cause do not fill the memory, nor displace a session’s end',
  async (t) => {
    const budget = { most: 1, windowMs: 60_000 }
    await inProcess.remember('ended', 60_000)
    await inProcess.take('oldest', budget)
    await inProcess.take('attacked', budget)
    for (let i = 0; i < 100_000; i++) {
      await inProcess.take(`stranger ${i}`, budget)
      if (i % 1000 === 0) await inProcess.take('attacked', budget)
    }
    t.equal(await inProcess.take('oldest', budget), 0, 'the longest untouched is forgotten')
    t.ok((await inProcess.take('attacked', budget)) > 0, 'what is under attack is not')
    t.equal(await inProcess.remembers('ended'), true)
  },
)
