import type { Worker } from 'node:worker_threads'
import type { FastifyBaseLogger } from 'fastify'
import { Problem } from '../core/http/problem.js'
import { startWorker, toWorkerError } from '../database/start-worker.js'
import { isCorruption } from '../database/database-error.js'
import type { ReplicaState } from './replica-file.js'
import {
  NOT_LOADED,
  type MessageFromWorker,
  type ReplicaWorkerData,
  type SyncState,
  type WriteTask,
  type WriteRequest,
  type WriteRejection,
  type WriteResult,
} from './replica-messages.js'
import { changeUnconfirmed, notReady } from './write-rejection.js'

interface PendingRequest {
  resolve: (result: WriteResult) => void
  reject: (error: unknown) => void
}

const RESTART_DELAY_MS = 1_000
/** When the service stops, requests in progress may take this long to finish. */
const STOP_TIMEOUT_MS = 2_000

const toProblem = ({ status, detail, retryAfter }: WriteRejection): Problem =>
  new Problem(status, detail, {
    headers: retryAfter === null ? {} : { 'retry-after': String(retryAfter) },
  })

/**
 * Converts a date and time to the clock of `performance.now()`; a time in the future, or `null`,
 * becomes the current time.
 */
const toMonotonicTime = (asOf: string | null): number =>
  performance.now() - (asOf === null ? 0 : Math.max(0, Date.now() - Date.parse(asOf)))

/** Starts the worker that updates the replica and writes orders, and restarts it if it fails. */
export function startReplicaWorker(
  data: ReplicaWorkerData,
  replicaState: ReplicaState,
  log: FastifyBaseLogger,
  onCorruption: () => void,
) {
  const pending = new Map<number, PendingRequest>()
  let state: SyncState = { ...NOT_LOADED, ...replicaState }
  let syncedAt = toMonotonicTime(replicaState.asOf)
  let isStopping = false
  let restartTimer: NodeJS.Timeout | undefined
  let lastRequestId = 0
  /** `null` while no worker is running */
  let worker: Worker | null = start()

  function onMessage(message: MessageFromWorker): void {
    if ('state' in message) {
      if (message.state.asOf !== state.asOf) syncedAt = toMonotonicTime(message.state.asOf)
      ;({ state } = message)
    } else if ('isCorrupt' in message) onCorruption()
    else if ('level' in message) log[message.level](message.details, message.message)
    else {
      const request = pending.get(message.requestId)
      pending.delete(message.requestId)
      if ('result' in message) request?.resolve(message.result)
      else if ('rejection' in message) request?.reject(toProblem(message.rejection))
      else request?.reject(message.error)
    }
  }

  function start(): Worker {
    const started = startWorker('nocodb/replica-worker', data)
    started.on('message', onMessage)
    started.on('error', (thrown) => {
      const err = toWorkerError(thrown)
      log.error({ err }, 'the NocoDB worker failed')
      if (isCorruption(err)) onCorruption()
    })
    started.on('exit', () => {
      worker = null
      for (const { reject } of pending.values()) reject(toProblem(changeUnconfirmed().rejection))
      pending.clear()
      if (isStopping) return
      restartTimer = setTimeout(() => {
        worker = start()
      }, RESTART_DELAY_MS)
    })
    return started
  }

  return {
    getState: (): SyncState => state,
    /**
     * Time since the replica was last up to date, ms; changes of the system clock do not affect it.
     */
    getLagMs: (): number => performance.now() - syncedAt,
    /** Executes a write. Throws a Problem (502, 503) if it is rejected or unconfirmed. */
    async write<R extends WriteResult>(task: WriteTask): Promise<R> {
      const running = worker
      if (isStopping || running === null) throw toProblem(notReady(state).rejection)
      const request: WriteRequest = { requestId: ++lastRequestId, task }
      return new Promise<WriteResult>((resolve, reject) => {
        pending.set(request.requestId, { resolve, reject })
        running.postMessage(request)
      }) as Promise<R>
    },
    async close(): Promise<void> {
      isStopping = true
      clearTimeout(restartTimer)
      const running = worker
      if (running === null) return
      const exited = new Promise<void>((resolve) => running.once('exit', () => resolve()))
      running.postMessage('stop')
      const timer = setTimeout(() => void running.terminate(), STOP_TIMEOUT_MS)
      await exited
      clearTimeout(timer)
    },
  }
}
