import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { Problem } from '../../http/problem.js'
import { isCorruption } from '../../database/database-error.js'
import { openSqliteOrderStore } from '../sqlite/sqlite-order-store.js'
import type { OrderStore, ChangeResult, CreateResult } from '../order-store.js'
import { acquireReplicaFile, type ReplicaState } from './replica-file.js'
import { startReplicaWorker } from './replica-client.js'
import { getSourceId, type NocoDbSettings } from './nocodb-settings.js'
import { capitalize, NOT_LOADED, describeSyncError, type SyncState } from './sync-state.js'

interface Options {
  settings: NocoDbSettings
  /** The folder for the copy */
  dataDir: string
  timeZone: string
  log: FastifyBaseLogger
}

const RETRY_AFTER = { 'retry-after': '5' }

/** A damaged copy that could not be made anew, as on a full disk, is tried again after this, ms. */
const RENEW_AGAIN_MS = 5_000

/** Longer than a copy that keeps up is behind, beside the time between two looks, ms. */
const LATE_AFTER_MS = 60_000

/** All of a copy is in NocoDB, and one that does not do is made anew at the start. */
const START_AGAIN = 'start the service again, and it takes all orders in from NocoDB anew'

const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`

const progressOf = ({ progress }: SyncState): string =>
  progress === null
    ? ''
    : `: ${progress.done.toLocaleString('en')} of ${progress.total.toLocaleString('en')}`

/** How far the first load has come, a sentence without its end. */
function loading(state: SyncState): string {
  const trouble = describeSyncError(state)
  const progress = `the orders are being taken in from NocoDB${progressOf(state)}`
  return trouble === null ? progress : `${progress}. That does not go on: ${trouble}`
}

/** How the orders stand, in words for an operator. */
function describe(state: SyncState): string {
  const { isLoaded, asOf, leftOut } = state
  const trouble = describeSyncError(state)
  const parts = [
    isLoaded
      ? `the orders can be read, as they were in NocoDB at ${asOf ?? 'an unknown time'}`
      : `the orders are being taken in from NocoDB${progressOf(state)}`,
    ...(trouble === null ? [] : [`since then ${trouble}`]),
    ...(leftOut.count === 0
      ? []
      : [`${count(leftOut.count, 'row')} left out as no order (${leftOut.first.join('; ')})`]),
  ]
  return parts.join('; ')
}

/**
 * Orders whose truth is in NocoDB. All reading is on a copy, an order book of this process's
 * own, so it goes on whatever NocoDB does; writing goes to NocoDB first. Throws DatabaseError.
 */
export function openNocoDbOrderStore({ settings, dataDir, timeZone, log }: Options): OrderStore {
  const file = acquireReplicaFile(dataDir, getSourceId(settings))
  const { path } = file
  const closing = new AbortController()
  let renewing: Promise<void> | null = null
  let copies = 0
  let copy = openFirst()

  function open(known: ReplicaState) {
    const number = ++copies
    // Whoever still reads from a copy that was thrown away says nothing of the one there is now.
    const onDamage = (): void => {
      if (number === copies) renewing ??= renew()
    }
    const book = openSqliteOrderStore({ path, timeZone, remedy: START_AGAIN, onDamage })
    return { book, thread: startReplicaWorker({ path, settings }, known, log, onDamage) }
  }

  function openFirst() {
    try {
      return open(file.state)
    } catch (err) {
      if (!isCorruption(err)) throw err
      log.warn({ err }, 'the copy of the orders cannot be opened, and is made anew from NocoDB')
      return open(file.makeAnew())
    }
  }

  /** Throws a damaged copy away: all of it is in NocoDB. Settles when there is a new one. */
  async function renew(): Promise<void> {
    log.error({}, 'the copy of the orders is damaged, and is made anew from NocoDB')
    await copy.thread.close()
    // What is damaged may not even close well.
    await copy.book.close().catch(() => undefined)
    while (!closing.signal.aborted) {
      try {
        copy = open(file.makeAnew())
        break
      } catch (err) {
        log.error({ err }, 'the copy of the orders cannot be made anew')
        await sleep(RENEW_AGAIN_MS, undefined, { ref: false, signal: closing.signal }).catch(
          () => undefined,
        )
      }
    }
    renewing = null
  }

  const stateNow = (): SyncState => (renewing === null ? copy.thread.state() : NOT_LOADED)

  const notLoaded = (state: SyncState): Problem =>
    new Problem(503, `${capitalize(loading(state))}.`, {
      headers: RETRY_AFTER,
      members: { progress: state.progress ?? { done: 0, total: 0 } },
    })

  /** What was thrown over the copy: a Problem (503) where that is damaged, and is made anew now. */
  const explained = (error: unknown): unknown => (renewing === null ? error : notLoaded(stateNow()))

  function reading<T>(read: (book: OrderStore) => T): T {
    const state = stateNow()
    // Part of the orders is worse than none: nobody would see that some are missing.
    if (!state.isLoaded) throw notLoaded(state)
    try {
      return read(copy.book)
    } catch (error) {
      throw explained(error)
    }
  }

  const { calendar } = copy.book
  return {
    path,
    calendar,
    check: () => reading((book) => book.check()),
    createErrorTranslator() {
      const { book } = copy
      const translate = book.createErrorTranslator()
      return (error) => explained(translate(error))
    },
    getFreshness() {
      const state = stateNow()
      const { isLoaded } = state
      const asOf = isLoaded ? state.asOf : null
      if (!isLoaded) return { asOf, problem: capitalize(loading(state)), isWritable: false }
      const trouble = describeSyncError(state)
      if (trouble !== null) return { asOf, problem: trouble, isWritable: false }
      const isLate = copy.thread.behindMs() > LATE_AFTER_MS + settings.syncIntervalMs
      return { asOf, problem: isLate ? 'NocoDB is responding slowly' : null, isWritable: true }
    },
    // Away or not, NocoDB is not needed for reading, and no other process could do more.
    getReadiness() {
      const state = stateNow()
      if (renewing === null) copy.book.check()
      return { ready: state.isLoaded, detail: describe(state) }
    },
    get: (id) => reading((book) => book.get(id)),
    getHistory: (id) => reading((book) => book.getHistory(id)),
    listCurrencies() {
      try {
        return renewing === null ? copy.book.listCurrencies() : []
      } catch (error) {
        throw explained(error)
      }
    },
    findByOrderSourceId: (orderSourceId) =>
      reading((book) => book.findByOrderSourceId(orderSourceId)),
    findOtherProviderOrders: (excluded, limit) =>
      reading((book) => book.findOtherProviderOrders(excluded, limit)),
    async list(filters, slice) {
      try {
        return await reading((book) => book.list(filters, slice))
      } catch (error) {
        throw explained(error)
      }
    },
    readStatistics: (read) => reading((book) => book.readStatistics(read)),
    create: (given, by, idempotencyKey) =>
      copy.thread.ask<CreateResult>({ kind: 'create', given, by, idempotencyKey }),
    apply: (id, command, context) =>
      copy.thread.ask<ChangeResult>({ kind: 'apply', id, command, context }),
    async close() {
      closing.abort()
      try {
        await renewing
        await copy.thread.close()
        await copy.book.close()
      } finally {
        file.release()
      }
    },
  }
}
