import type { Worker } from 'node:worker_threads'
import type { FastifyBaseLogger } from 'fastify'
import { Problem } from '../../http/problem.js'
import { startWorker, toWorkerError } from '../../start-worker.js'
import { isCorruption } from '../../database/database-error.js'
import type {
  FromWorker,
  ReplicaTask,
  WriteResult,
  WriteRequest,
  WriteTask,
} from './replica-messages.js'
import type { ReplicaState } from './replica-file.js'
import { NOT_LOADED, type SyncState } from './sync-state.js'
import { changeUnconfirmed, notReady, type WriteRejection } from './write-rejection.js'

interface Waiting {
  resolve: (outcome: WriteResult) => void
  reject: (error: unknown) => void
}

const START_AGAIN_MS = 1_000
/** What is under way may take so long when the service stops; its outcome is looked up at the next start. */
const STOPPING_MS = 2_000

const problemOf = ({ status, detail, retryAfter }: WriteRejection): Problem =>
  new Problem(status, detail, {
    headers: retryAfter === null ? {} : { 'retry-after': String(retryAfter) },
  })

/** When a copy was as NocoDB at a moment, as `performance.now` tells it; a moment to come is now. */
const caughtUpAt = (asOf: string | null): number =>
  performance.now() - (asOf === null ? 0 : Math.max(0, Date.now() - Date.parse(asOf)))

/** The thread that keeps a copy of the orders up with NocoDB and writes to both. It is started anew where it fails. */
export function startReplicaWorker(
  task: ReplicaTask,
  known: ReplicaState,
  log: FastifyBaseLogger,
  onDamage: () => void,
) {
  const waiting = new Map<number, Waiting>()
  let state: SyncState = { ...NOT_LOADED, ...known }
  let caughtUp = caughtUpAt(known.asOf)
  let isStopping = false
  let restart: NodeJS.Timeout | undefined
  let lastNumber = 0
  /** `null` from the end of one to the start of the next: what an ended one is sent goes nowhere. */
  let worker: Worker | null = start()

  function hear(message: FromWorker): void {
    if ('state' in message) {
      if (message.state.asOf !== state.asOf) caughtUp = caughtUpAt(message.state.asOf)
      ;({ state } = message)
      return
    }
    if ('isDamaged' in message) {
      onDamage()
      return
    }
    if ('level' in message) {
      log[message.level](message.details, message.message)
      return
    }
    const asked = waiting.get(message.number)
    waiting.delete(message.number)
    if ('outcome' in message) asked?.resolve(message.outcome)
    else if ('refusal' in message) asked?.reject(problemOf(message.refusal))
    else asked?.reject(message.error)
  }

  function start(): Worker {
    const started = startWorker('order-store/nocodb/replica-worker', task)
    started.on('message', hear)
    started.on('error', (thrown) => {
      const err = toWorkerError(thrown)
      log.error({ err }, 'the thread of the orders has failed')
      if (isCorruption(err)) onDamage()
    })
    started.on('exit', () => {
      worker = null
      for (const asked of waiting.values()) asked.reject(problemOf(changeUnconfirmed().refusal))
      waiting.clear()
      if (isStopping) return
      restart = setTimeout(() => {
        worker = start()
      }, START_AGAIN_MS)
    })
    return started
  }

  return {
    state: (): SyncState => state,
    /** Time since the copy has caught up, ms, whatever the clock has been set to meanwhile. */
    behindMs: (): number => performance.now() - caughtUp,
    /** Writes, and gives the outcome; throws a Problem where that is refused or unknown. */
    async ask<T extends WriteResult>(asked: WriteTask): Promise<T> {
      const writer = worker
      if (isStopping || writer === null) throw problemOf(notReady(state).refusal)
      const question: WriteRequest = { number: ++lastNumber, task: asked }
      return new Promise<WriteResult>((resolve, reject) => {
        waiting.set(question.number, { resolve, reject })
        writer.postMessage(question)
      }) as Promise<T>
    },
    async close(): Promise<void> {
      isStopping = true
      clearTimeout(restart)
      const last = worker
      if (last === null) return
      const ended = new Promise<void>((resolve) => last.once('exit', () => resolve()))
      last.postMessage('stop')
      const impatient = setTimeout(() => void last.terminate(), STOPPING_MS)
      await ended
      clearTimeout(impatient)
    },
  }
}
