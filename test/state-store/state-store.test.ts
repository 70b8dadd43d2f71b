import Fastify from 'fastify'
import t from 'tap'
import { openStateFile } from '../../src/state-store/state-file.js'
import { openMemoryStore } from '../../src/state-store/memory-store.js'
import { openPostgres } from '../../src/database/postgres.js'
import { migratePostgres } from '../../src/database/postgres-migrations.js'
import { openPostgresStore } from '../../src/state-store/postgres-store.js'
import { temporaryFolder } from '../support/app.js'
import { startPostgres } from '../support/postgres.js'
import { waitUntil } from '../support/wait-for.js'

const { log } = Fastify()
const server = await startPostgres(t, { default_transaction_isolation: 'serializable' })
const postgres = openPostgres(await server.createDatabase(), { poolSize: 8 })
await migratePostgres(postgres)
const inProcess = openMemoryStore(openStateFile(temporaryFolder(t), log))
const inPostgres = openPostgresStore(postgres, (error) => t.fail(String(error)))
t.teardown(async () => {
  inProcess.close()
  inPostgres.close()
  await postgres.close()
})

for (const [where, memory] of [
  ['in the process', inProcess],
  ['in PostgreSQL', inPostgres],
] as const) {
  t.test(`${where}: a key expires`, async (t) => {
    await memory.set('guest', 2_000)
    t.equal(await memory.has('guest'), true)
    t.equal(await memory.has('stranger'), false)
    t.ok(await waitUntil(async () => !(await memory.has('guest'))))
  })

  t.test(
    `${where}: a budget can be consumed, refunded, and is restored after its window`,
    async (t) => {
      const budget = { limit: 2, windowMs: 3_000 }
      const take = () => memory.consume('budget', budget)
      t.same([await take(), await take()], [0, 0])
      const wait = await take()
      t.ok(wait > 0 && wait <= 3_000)
      await memory.refund('budget')
      t.equal(await take(), 0)
      t.ok((await take()) > 0)
      t.ok(await waitUntil(async () => (await take()) === 0))
    },
  )

  t.test(`${where}: refunds no more than was consumed`, async (t) => {
    const budget = { limit: 1, windowMs: 10_000 }
    await memory.refund('never')
    await memory.refund('never')
    t.equal(await memory.consume('never', budget), 0)
    t.ok((await memory.consume('never', budget)) > 0)
  })

  t.test(`${where}: concurrent callers cannot exceed a budget`, async (t) => {
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
