import type { FastifyBaseLogger } from 'fastify'
import { Problem } from '../../plugins/problem.js'
import { openOrderBook, type ChangeOutcome, type CreateOutcome } from '../book/order-book.js'
import type { OrderStore } from '../order-store.js'
import { takeReplicaFile } from './replica-file.js'
import { replicaThread } from './replica-thread.js'
import { sourceOf, type NocoDbSettings } from './settings.js'
import type { SyncState } from './sync-state.js'

interface Options {
  settings: NocoDbSettings
  /** The folder for the copy */
  dataDir: string
  timeZone: string
  log: FastifyBaseLogger
}

const RETRY_AFTER = { 'retry-after': '5' }

/** Longer than a copy that keeps up is behind, beside the time between two looks, ms. */
const LATE_AFTER_MS = 60_000

const count = (number: number, noun: string): string =>
  `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`

const progressOf = ({ progress }: SyncState): string =>
  progress === null
    ? ''
    : `: ${progress.done.toLocaleString('en')} of ${progress.total.toLocaleString('en')}`

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** What keeps the copy from catching up, a sentence without its end; `null` where nothing does. */
function troubleOf({ trouble, misfits }: SyncState): string | null {
  if (trouble === null || misfits.length === 0) return trouble
  return `the orders table in NocoDB does not fit (${misfits.join('; ')}), and npm run nocodb:setup adds what it lacks`
}

/** How far the first load has come, a sentence without its end. */
function loading(state: SyncState): string {
  const trouble = troubleOf(state)
  const progress = `the orders are being taken in from NocoDB${progressOf(state)}`
  return trouble === null ? progress : `${progress}. That does not go on: ${trouble}`
}

/** How the orders stand, in words for an operator. */
function describe(state: SyncState): string {
  const { isLoaded, asOf, leftOut } = state
  const trouble = troubleOf(state)
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
 * own, so it goes on whatever NocoDB does; writing goes to NocoDB first. Throws BookError.
 */
export function openNocoDbOrders({ settings, dataDir, timeZone, log }: Options): OrderStore {
  const file = takeReplicaFile(dataDir, sourceOf(settings))
  const book = openOrderBook({ path: file.path, timeZone })
  const { isLoaded, asOf } = file
  const thread = replicaThread({ path: file.path, settings }, { isLoaded, asOf }, log)

  /** Part of the orders is worse than none: nobody would see that some are missing. */
  function requireLoaded(): void {
    const state = thread.state()
    if (state.isLoaded) return
    throw new Problem(503, `${capital(loading(state))}.`, {
      headers: RETRY_AFTER,
      members: { progress: state.progress ?? { done: 0, total: 0 } },
    })
  }

  return {
    ...book,
    path: file.path,
    check() {
      requireLoaded()
      book.check()
    },
    freshness() {
      const state = thread.state()
      const { isLoaded } = state
      const asOf = isLoaded ? state.asOf : null
      if (!isLoaded) return { asOf, trouble: capital(loading(state)), takesChanges: false }
      const trouble = troubleOf(state)
      if (trouble !== null) return { asOf, trouble, takesChanges: false }
      const isLate = Date.now() - Date.parse(asOf ?? '') > LATE_AFTER_MS + settings.syncIntervalMs
      return { asOf, trouble: isLate ? 'NocoDB answers slowly' : null, takesChanges: true }
    },
    // Away or not, NocoDB is not needed for reading, and no other process could do more.
    readiness() {
      book.check()
      const state = thread.state()
      return { ready: state.isLoaded, detail: describe(state) }
    },
    get(id) {
      requireLoaded()
      return book.get(id)
    },
    history(id) {
      requireLoaded()
      return book.history(id)
    },
    withOrderSourceId(orderSourceId) {
      requireLoaded()
      return book.withOrderSourceId(orderSourceId)
    },
    offsetOrdersBesides(ids) {
      requireLoaded()
      return book.offsetOrdersBesides(ids)
    },
    async list(filters, slice) {
      requireLoaded()
      return book.list(filters, slice)
    },
    readSums(read) {
      requireLoaded()
      return book.readSums(read)
    },
    create: (given, by, idempotencyKey) =>
      thread.ask<CreateOutcome>({ kind: 'create', given, by, idempotencyKey }),
    change: (id, changes, context) =>
      thread.ask<ChangeOutcome>({ kind: 'change', id, changes, context }),
    cancel: (id, context) => thread.ask<ChangeOutcome>({ kind: 'cancel', id, context }),
    restore: (id, context) => thread.ask<ChangeOutcome>({ kind: 'restore', id, context }),
    notePlacement: (id, step, context) =>
      thread.ask<ChangeOutcome>({ kind: 'notePlacement', id, step, context }),
    async close() {
      await thread.close()
      await book.close()
      file.release()
    },
  }
}
