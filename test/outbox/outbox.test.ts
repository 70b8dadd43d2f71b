import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import t, { type Test } from 'tap'
import type { Database } from '../../src/database/database.js'
import {
  cancelMessages,
  enqueueMessage,
  requeueMessage,
  type NewMessage,
} from '../../src/outbox/messages.js'
import { createOutboxWorker, type SendResult } from '../../src/outbox/outbox.js'
import { getMessage, listAttempts } from '../../src/outbox/read-messages.js'
import { startDatabases } from '../support/databases.js'
import { runOutbox } from '../support/run-outbox.js'
import { waitFor } from '../support/wait-for.js'

const { log } = Fastify()
const SENT: SendResult = { outcome: 'sent', status: 204, detail: '' }
const FAILED: SendResult = { outcome: 'retry', status: 500, detail: 'out of order' }

const message = (id: string, changes: Partial<NewMessage> = {}): NewMessage => ({
  id,
  queue: 'test:one',
  sequence: id,
  type: 'order.paid',
  orderId: '1',
  payload: { id },
  ...changes,
})

const enqueue = (database: Database, ...messages: NewMessage[]) =>
  database.write(async (tx) => {
    for (const each of messages) await enqueueMessage(tx, each)
  })

interface Options {
  retryDelaysMs?: number[]
  concurrency?: number
  leaseMs?: number
}

/** Starts a worker that reports the IDs it sends, and sends what is due every 5 ms. */
function startWorker(
  t: Test,
  database: Database,
  send: (id: string, signal: AbortSignal) => Promise<SendResult>,
  { retryDelaysMs = [1, 1], concurrency = 4, leaseMs = 60_000 }: Options = {},
) {
  const worker = createOutboxWorker(database, log)
  worker.addSender({
    queuePrefix: 'test:',
    concurrency,
    leaseMs,
    retryDelaysMs,
    send: ({ id }, signal) => send(id, signal),
  })
  return runOutbox(t, worker)
}

const databases = await startDatabases(t)
for (const [engine, open] of Object.entries(databases)) {
  const getState = async (database: Database, id: string) => (await getMessage(database, id))?.state

  t.test(`${engine}: a message with an ID is sent once, by one of two processes`, async (t) => {
    const [first, second] = await open(t)
    const ids = Array.from({ length: 40 }, (_, i) => `message ${i}`)
    await enqueue(first, ...ids.map((id) => message(id)))
    await enqueue(second, ...ids.map((id) => message(id)))
    const sent: string[] = []
    const send = async (id: string) => {
      sent.push(id)
      await sleep(2)
      return SENT
    }
    startWorker(t, first, send)
    startWorker(t, second, send)
    await waitFor(async () => (await getState(first, 'message 39')) === 'sent')
    await sleep(50)
    t.same(sent.toSorted(), ids.toSorted())
  })

  t.test(`${engine}: retries a message after pauses, then gives it up`, async (t) => {
    const [database] = await open(t)
    await enqueue(database, message('lost'))
    let attempts = 0
    startWorker(t, database, async () => {
      attempts++
      return FAILED
    })
    await waitFor(async () => (await getState(database, 'lost')) === 'failed')
    t.equal(attempts, 3)
    const recorded = await listAttempts(database, 'lost')
    t.match(recorded, [
      { number: 1, status: 500, detail: 'out of order' },
      { number: 2 },
      { number: 3 },
    ])
    await requeueMessage(database, 'lost')
    await waitFor(async () => (await getState(database, 'lost')) === 'failed')
    t.equal(attempts, 6, 'queued again, it is retried as often')
  })

  t.test(`${engine}: keeps the order of a sequence, and no other`, async (t) => {
    const [database] = await open(t)
    const sequence = 'order 1'
    await enqueue(
      database,
      message('1a', { sequence }),
      message('1b', { sequence }),
      message('1c', { sequence }),
      message('2'),
    )
    const sent: string[] = []
    let hasFailed = false
    startWorker(
      t,
      database,
      async (id) => {
        if (id === '1a' && !hasFailed) {
          hasFailed = true
          return FAILED
        }
        sent.push(id)
        return SENT
      },
      { retryDelaysMs: [100] },
    )
    await waitFor(async () => sent.length === 4)
    t.same(sent, ['2', '1a', '1b', '1c'])
  })

  t.test(`${engine}: messages about orders overtake those about other things`, async (t) => {
    const [database] = await open(t)
    const others = Array.from({ length: 20 }, (_, i) => message(`code ${i}`, { orderId: null }))
    await enqueue(database, ...others, message('order'))
    const sent: string[] = []
    startWorker(
      t,
      database,
      async (id) => {
        sent.push(id)
        return SENT
      },
      { concurrency: 2 },
    )
    await waitFor(async () => sent.length === 21)
    t.ok(sent.indexOf('order') < 2)
  })

  t.test(`${engine}: a queue that hangs does not delay another`, async (t) => {
    const [database] = await open(t)
    await enqueue(database, ...Array.from({ length: 20 }, (_, i) => message(`slow ${i}`)))
    await enqueue(database, message('quick', { queue: 'test:two' }))
    let hanging = 0
    const stop = startWorker(t, database, async (id, signal) => {
      if (id === 'quick') return SENT
      hanging++
      await sleep(60_000, undefined, { signal }).catch(() => undefined)
      return FAILED
    })
    await waitFor(async () => (await getState(database, 'quick')) === 'sent')
    t.equal(hanging, 4, 'its concurrency is limited')
    await stop()
    t.equal((await getMessage(database, 'slow 0'))?.attempts, 0, 'stopping is not an attempt')
  })

  t.test(`${engine}: sends again what a dead process had claimed`, async (t) => {
    const [database, dead] = await open(t)
    await enqueue(database, message('claimed'))
    const options = { leaseMs: 50 }
    const never = () => new Promise<SendResult>(() => undefined)
    const worker = createOutboxWorker(dead, log)
    worker.addSender({
      queuePrefix: 'test:',
      concurrency: 1,
      retryDelaysMs: [],
      send: never,
      ...options,
    })
    await worker.sendDue()
    startWorker(t, database, async () => SENT, options)
    await waitFor(async () => (await getState(database, 'claimed')) === 'sent')
    t.equal(await getState(database, 'claimed'), 'sent')
  })

  t.test(`${engine}: does not send a cancelled or rejected message`, async (t) => {
    const [database] = await open(t)
    await enqueue(database, message('cancelled'), message('rejected', { queue: 'test:two' }))
    await cancelMessages(database, 'test:one')
    const sent: string[] = []
    startWorker(t, database, async (id) => {
      sent.push(id)
      return { outcome: 'rejected', status: 410, detail: '' }
    })
    await waitFor(async () => (await getState(database, 'rejected')) === 'failed')
    t.same(sent, ['rejected'])
    t.equal(await getState(database, 'cancelled'), 'cancelled')
  })

  t.test(`${engine}: a transaction that fails leaves nothing`, async (t) => {
    const [database] = await open(t)
    const failing = database.write(async (tx) => {
      await enqueueMessage(tx, message('half'))
      throw new Error('no')
    })
    await t.rejects(failing, { message: 'no' })
    t.equal(await getMessage(database, 'half'), null)
  })
}
