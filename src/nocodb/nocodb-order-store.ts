import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { Problem } from '../core/http/problem.js'
import { isCorruption } from '../database/database-error.js'
import { openSqliteDatabase } from '../database/sqlite-database.js'
import type { ChangeResult, CreateResult, OrderStore } from '../orders/store/order-store.js'
import { openDatabaseOrderStore } from '../orders/store/database-order-store.js'
import { getSourceId, type NocoDbSettings } from './nocodb-config.js'
import { startReplicaWorker } from './replica-client.js'
import { acquireReplicaFile, type ReplicaState } from './replica-file.js'
import {
  capitalize,
  describeSyncError,
  NOT_LOADED,
  type SyncState,
  type WriteResult,
} from './replica-messages.js'

interface Options {
  settings: NocoDbSettings
  /** Folder of the replica */
  dataDir: string
  timeZone: string
  log: FastifyBaseLogger
}

const RECREATE_RETRY_MS = 5_000

/** NocoDB counts as slow if the replica lags by more than the sync interval plus this time, ms. */
const MAX_LAG_MS = 60_000

const CORRUPTION_REMEDY = 'restart the service; it loads all orders from NocoDB again'

const formatCount = (count: number): string => count.toLocaleString('en')

/** Describes the progress of the first load; the text has no final full stop. */
function describeLoading(state: SyncState): string {
  const { progress } = state
  const error = describeSyncError(state)
  return [
    'orders are loading from NocoDB',
    progress === null ? '' : `: ${formatCount(progress.done)} of ${formatCount(progress.total)}`,
    error === null ? '' : `. Loading is interrupted: ${error}`,
  ].join('')
}

/** Describes the state for operators. */
function describeState(state: SyncState): string {
  const { isLoaded, asOf, skippedRows } = state
  const error = describeSyncError(state)
  const rows = skippedRows.count === 1 ? 'row' : 'rows'
  return [
    isLoaded ? `orders can be read, as of ${asOf ?? 'an unknown time'}` : describeLoading(state),
    ...(isLoaded && error !== null ? [`sync failed: ${error}`] : []),
    ...(skippedRows.count === 0
      ? []
      : [`${formatCount(skippedRows.count)} ${rows} skipped (${skippedRows.first.join('; ')})`]),
  ].join('; ')
}

/**
 * Opens an order store whose orders are in NocoDB. Writes go to NocoDB first. Reads use a replica
 * in SQLite, so they do not need NocoDB, except to get a version that the replica does not have
 * yet. Throws DatabaseError.
 */
export async function openNocoDbOrderStore({
  settings,
  dataDir,
  timeZone,
  log,
}: Options): Promise<OrderStore> {
  const file = acquireReplicaFile(dataDir, getSourceId(settings))
  const { path } = file
  const source = { type: 'sqlite', path } as const
  const closing = new AbortController()
  let recreation: Promise<void> | null = null
  let opened = 0
  let replica = await openFirst()

  async function open(replicaState: ReplicaState) {
    const number = ++opened
    let isOpen = false
    const onCorruption = (): void => {
      // Ignores errors from readers of a replica that has been replaced.
      if (isOpen && number === opened) recreation ??= recreate()
    }
    const database = openSqliteDatabase(path, {
      remedy: CORRUPTION_REMEDY,
      onDamage: onCorruption,
    })
    try {
      const store = await openDatabaseOrderStore({ database, source, timeZone, log })
      const worker = startReplicaWorker({ path, settings }, replicaState, log, onCorruption)
      isOpen = true
      return { database, store, worker }
    } catch (error) {
      await database.close()
      throw error
    }
  }

  async function openFirst() {
    try {
      return await open(file.state)
    } catch (err) {
      if (!isCorruption(err) && !(err instanceof Problem)) throw err
      log.warn({ err }, 'the replica cannot be opened; recreating it from NocoDB')
      return open(file.recreate())
    }
  }

  /** Replaces a corrupt replica with an empty one, which is loaded from NocoDB. */
  async function recreate(): Promise<void> {
    log.error({}, 'the replica is corrupt; recreating it from NocoDB')
    await replica.worker.close()
    // Closing a corrupt database may fail.
    await replica.database.close().catch(() => undefined)
    while (!closing.signal.aborted) {
      try {
        replica = await open(file.recreate())
        break
      } catch (err) {
        log.error({ err }, 'the replica cannot be recreated')
        const options = { ref: false, signal: closing.signal }
        await sleep(RECREATE_RETRY_MS, undefined, options).catch(() => undefined)
      }
    }
    recreation = null
  }

  const getState = (): SyncState => (recreation === null ? replica.worker.getState() : NOT_LOADED)

  const createNotLoadedProblem = (state: SyncState): Problem =>
    new Problem(503, `${capitalize(describeLoading(state))}.`, {
      headers: { 'retry-after': '5' },
      members: { progress: state.progress ?? { done: 0, total: 0 } },
    })

  /** While a corrupt replica is being recreated, replaces errors with a Problem (503). */
  const translateError = (error: unknown): unknown =>
    recreation === null ? error : createNotLoadedProblem(getState())

  async function read<T>(query: (store: OrderStore) => Promise<T>): Promise<T> {
    const state = getState()
    // Incomplete results would be mistaken for complete ones.
    if (!state.isLoaded) throw createNotLoadedProblem(state)
    try {
      return await query(replica.store)
    } catch (error) {
      throw translateError(error)
    }
  }

  const { calendar } = replica.store
  return {
    source,
    calendar,
    check() {
      const state = getState()
      if (!state.isLoaded) throw createNotLoadedProblem(state)
      replica.database.check()
    },
    createErrorTranslator() {
      const translate = replica.store.createErrorTranslator()
      return (error) => translateError(translate(error))
    },
    getFreshness() {
      const state = getState()
      if (!state.isLoaded) {
        return { asOf: null, problem: capitalize(describeLoading(state)), isWritable: false }
      }
      const { asOf } = state
      const problem = describeSyncError(state)
      if (problem !== null) return { asOf, problem, isWritable: false }
      const isSlow = replica.worker.getLagMs() > MAX_LAG_MS + settings.syncIntervalMs
      return { asOf, problem: isSlow ? 'NocoDB is responding slowly' : null, isWritable: true }
    },
    // Does not depend on whether NocoDB is available, because reads do not need it and an outage
    // would make every process unready.
    async getReadiness() {
      const state = getState()
      if (recreation === null) replica.database.check()
      return { ready: state.isLoaded, detail: describeState(state) }
    },
    async get(id, minVersion = 0) {
      const order = await read((store) => store.get(id))
      if (minVersion <= (order?.version ?? 0)) return order
      await replica.worker.write<WriteResult>({ type: 'refresh', id })
      return read((store) => store.get(id))
    },
    getHistory: (id) => read((store) => store.getHistory(id)),
    async listCurrencies() {
      try {
        return recreation === null ? await replica.store.listCurrencies() : []
      } catch (error) {
        throw translateError(error)
      }
    },
    findByOrderSourceId: (orderSourceId) =>
      read((store) => store.findByOrderSourceId(orderSourceId)),
    findOtherProviderOrders: (excluded, limit) =>
      read((store) => store.findOtherProviderOrders(excluded, limit)),
    findByMailbox: (email) => read((store) => store.findByMailbox(email)),
    list: (filters, slice) => read((store) => store.list(filters, slice)),
    readStatistics: (query) => read((store) => store.readStatistics(query)),
    create: (order, by, idempotencyKey) =>
      replica.worker.write<CreateResult>({ type: 'create', order, by, idempotencyKey }),
    apply: (id, command, context) =>
      replica.worker.write<ChangeResult>({ type: 'apply', id, command, context }),
    async readEvents(limit) {
      if (recreation !== null || !getState().isLoaded) return []
      return read((store) => store.readEvents(limit))
    },
    deleteEvents: (ids) => read((store) => store.deleteEvents(ids)),
    async close() {
      closing.abort()
      try {
        await recreation
        await replica.worker.close()
        await replica.database.close()
      } finally {
        file.release()
      }
    },
  }
}
