import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hashIdempotencyKey, IDEMPOTENCY_KEY_TTL_MS, hashOrder } from '../../orders/idempotency.js'
import type { NewOrder, Order, OrderChanges } from '../../orders/order.js'
import {
  cancelOrder,
  applyChanges,
  createFirstVersion,
  undoLastChange,
  type ChangeOutcome,
} from '../../orders/apply-changes.js'
import type { OrderFilters } from '../../orders/order-filters.js'
import { parseOrderId } from '../../orders/order-id.js'
import { isReset, applyAttempt, type FulfilmentAttempt } from '../../fulfilment/attempt.js'
import { createFileMonitor } from '../../database/file-monitor.js'
import {
  toDatabaseError,
  getErrorCode,
  isBusy,
  describeDatabaseError,
} from '../../database/database-error.js'
import {
  MAX_BYTES_CHECKED_AT_START,
  startIntegrityCheck,
  isCheckedAtStart,
} from '../../database/integrity-check.js'
import { createProviderOrderLookup, type ProviderOrderRef } from './provider-order-ids.js'
import { openDatabase, openReadOnly } from '../../database/open-database.js'
import { isSearch, createOrderFinder, type FindResult, type Slice } from './find-orders.js'
import { createOrderNumbers } from './order-numbers.js'
import { createOrderReader, createOrderWriter } from './order-records.js'
import { createAggregateReader, type AggregateReader } from './aggregates.js'
import { startSearchWorker } from './search-client.js'
import { setTimeZone, createTimeZoneCheck } from './settings.js'

/** Who changes an order, and which version they have seen, if they say. */
export interface ChangeContext {
  by: string
  /** Versions of which the order must have one; `null` for any */
  ifVersions: readonly number[] | null
}

export type ChangeResult =
  ChangeOutcome | { outcome: 'no such order' } | { outcome: 'stale'; order: Order }

export type CreateResult =
  | { outcome: 'created'; order: Order }
  | { outcome: 'repeated'; order: Order }
  | { outcome: 'key reused' }

/** The book takes no changes at the moment: others write to it for long, or its disk does not let it. */
export class StoreUnwritableError extends Error {
  override readonly name = 'StoreUnwritableError'
  /** Others write: it passes, and nobody need do anything */
  readonly isBusy: boolean
  constructor(cause: unknown) {
    super('', { cause })
    this.isBusy = isBusy(cause)
  }
}

/** Writes as much as a large order, and takes it away again. */
const TRIAL = `
  INSERT OR REPLACE INTO settings VALUES ('trial', hex(zeroblob(32768)));
  DELETE FROM settings WHERE name = 'trial';`

const WRITING_WAITS_MS = 5_000

const isOfDisk = (error: unknown): boolean =>
  /^SQLITE_(FULL|IOERR|READONLY|CANTOPEN)/.test(getErrorCode(error))

interface Options {
  /** The file; made where there is none */
  path: string
  /** Zone whose days filters and sums go by */
  timeZone: string
  /** Bytes of a book up to which it is looked through for damage before it opens, not beside */
  checkedAtOnce?: number
  /** What an operator does where the book turns out to be damaged while it is in use */
  remedy?: string
  /** Is told each time that shows, or that its files are others than those opened */
  onDamage?: () => void
}

const RESTORE = 'stop the service and restore the book from a back-up'

/** Where the book lies in the data folder. */
export const getOrderStorePath = (dataDir: string): string => join(dataDir, 'orders.db')

function openForDaysOf({ path, timeZone, checkedAtOnce }: Options) {
  const db = openDatabase(path, checkedAtOnce)
  try {
    return { db, calendar: setTimeZone(db, timeZone) }
  } catch (error) {
    db.close()
    throw toDatabaseError(path, error)
  }
}

/**
 * Opens the order book. Throws DatabaseError where the file does not do. From then on, all reading and
 * writing throws a Problem (503) while the book goes by the days of another process's time zone,
 * while its files are not those that were opened, and once damage has been found.
 */
export function openOrderDatabase(options: Options) {
  const { path, timeZone, checkedAtOnce = MAX_BYTES_CHECKED_AT_START } = options
  const { remedy = RESTORE, onDamage = () => undefined } = options
  const { db, calendar } = openForDaysOf(options)
  // From here on nobody waits long inside SQLite, as that stops the whole process.
  db.pragma('busy_timeout = 20')
  const records = createOrderWriter(db, calendar)
  const written = createOrderReader(db)
  const numbers = createOrderNumbers(db)

  const reading = openReadOnly(path)
  const reader = createOrderReader(reading)
  const finder = createOrderFinder(reading, calendar)
  const rollUps = createAggregateReader(reading)
  const offsetOrders = createProviderOrderLookup(reading)
  const search = startSearchWorker(path, timeZone)
  const condition = createFileMonitor(path, remedy, onDamage)
  const integrity = isCheckedAtStart(path, checkedAtOnce)
    ? null
    : startIntegrityCheck(path, condition)
  const checkDays = {
    reading: createTimeZoneCheck(reading, timeZone),
    writing: createTimeZoneCheck(db, timeZone),
  }
  const check = (purpose: 'reading' | 'writing'): void => {
    condition.check()
    checkDays[purpose]()
  }

  /** Does something with the book; damage that shows is noted, and told as such. */
  function minding<T>(work: () => T): T {
    try {
      return work()
    } catch (error) {
      throw condition.told(error)
    }
  }

  /** Reads all of it as it was at one moment. */
  const atOneMoment = <T>(read: () => T): T =>
    minding(
      reading.transaction(() => {
        check('reading')
        return read()
      }),
    )

  /** Why the disk did not take the last change; `null` where it did */
  let diskFault: unknown = null

  /** Runs in a transaction of its own; where others write just now, it waits without stopping the process. */
  async function writing<T>(work: () => T): Promise<T> {
    const transaction = db.transaction(() => {
      check('writing')
      return work()
    })
    await integrity?.whole()
    const givesUp = performance.now() + WRITING_WAITS_MS
    for (;;) {
      try {
        const outcome = minding(() => transaction.immediate())
        diskFault = null
        return outcome
      } catch (error) {
        if (isOfDisk(error)) diskFault = error
        const gaveUp = isBusy(error) && performance.now() > givesUp
        if (gaveUp || isOfDisk(error)) throw new StoreUnwritableError(error)
        if (!isBusy(error)) throw error
        await sleep(10 + Math.random() * 20)
      }
    }
  }

  const findKey = db.prepare<[string], { request: string; order_id: number }>(
    'SELECT request, order_id FROM idempotency_keys WHERE key = ?',
  )
  const addKey = db.prepare<[string, string, number, number]>(
    'INSERT INTO idempotency_keys VALUES (?, ?, ?, ?)',
  )
  const dropKeysBefore = db.prepare<[number]>('DELETE FROM idempotency_keys WHERE at < ?')
  const dropOldKeys = (now: number): void => void dropKeysBefore.run(now - IDEMPOTENCY_KEY_TTL_MS)
  const lastId = db.prepare<[], number>('SELECT coalesce(max(id), 0) FROM orders').pluck()

  try {
    // Else the next order with a key does it.
    if (integrity === null) dropOldKeys(Date.now())
  } catch (error) {
    if (!isBusy(error) && !isOfDisk(error)) throw error
  }

  async function change(
    id: string,
    { by, ifVersions }: ChangeContext,
    apply: (order: Order, now: string) => ChangeOutcome,
  ): Promise<ChangeResult> {
    const key = parseOrderId(id)
    if (key === null) return { outcome: 'no such order' }
    return writing((): ChangeResult => {
      const order = records.get(key)
      if (order === null) return { outcome: 'no such order' }
      if (ifVersions !== null && !ifVersions.includes(order.version))
        return { outcome: 'stale', order }
      const changed = apply(order, new Date().toISOString())
      if (changed.outcome === 'changed') records.replace(order, changed.order, by, changed.changes)
      return changed
    })
  }

  return {
    /** Days as filters and sums have them */
    calendar,
    /** Reads the sums, all as they were at one moment. */
    readSums: <T>(read: (sums: AggregateReader) => T): T => atOneMoment(() => read(rollUps)),
    /** An order by its id; `null` where there is none. */
    get(id: string): Order | null {
      const key = parseOrderId(id)
      return atOneMoment(() => (key === null ? null : reader.get(key)))
    },
    /** What became of an order, newest first; `null` where there is none. */
    history(id: string) {
      const key = parseOrderId(id)
      return atOneMoment(() => (key === null ? null : reader.history(key)))
    },
    /** The orders that have an id at the order source, which should be one. */
    withOrderSourceId: (orderSourceId: string): ProviderOrderRef[] =>
      atOneMoment(() => offsetOrders.withId(orderSourceId)),
    /**
     * Orders known to be at the order source under other ids than some: those that have one, and
     * those that were placed from here, unless somebody has let go of them. Some of them where
     * there are more than `most`; the latest first.
     */
    offsetOrdersBesides: (ids: string[], most: number): ProviderOrderRef[] =>
      atOneMoment(() => {
        const known = new Map<string, ProviderOrderRef>()
        for (const order of offsetOrders.besides(ids)) {
          const { id, orderSourceId } = order
          const counts =
            reader.get(id)?.orderSourceId === orderSourceId ||
            !isReset(reader.history(id) ?? [], orderSourceId)
          if (counts) known.set(`${id} ${orderSourceId}`, order)
          if (known.size === most) break
        }
        return [...known.values()].sort(
          (a, b) => b.id - a.id || (a.orderSourceId < b.orderSourceId ? -1 : 1),
        )
      }),
    /** The currencies that there are orders in. */
    currencies: (): string[] =>
      atOneMoment(() =>
        [
          ...new Set(rollUps.counts({ from: null, to: null }).map(({ currency }) => currency)),
        ].sort(),
      ),
    /** The orders of a slice of a filtered, sorted list, and how many are in all of it. */
    async list(filters: OrderFilters, slice: Slice): Promise<{ items: Order[]; total: number }> {
      const ordersAnd = ({ ids, total }: FindResult) => ({ items: reader.some(ids), total })
      if (!isSearch(filters)) return atOneMoment(() => ordersAnd(finder.find(filters, slice)))
      condition.check()
      const found = await search.find(filters, slice).catch((error: unknown) => {
        throw condition.told(error)
      })
      return atOneMoment(() => ordersAnd(found))
    },
    /**
     * Enters an order. The same key and order again, from the same person, gives the order
     * that is there already.
     */
    create(given: NewOrder, by: string, idempotencyKey?: string): Promise<CreateResult> {
      const key = idempotencyKey === undefined ? null : hashIdempotencyKey(idempotencyKey, by)
      const request = hashOrder(given)
      return writing((): CreateResult => {
        const now = Date.now()
        if (key !== null) {
          dropOldKeys(now)
          const known = findKey.get(key)
          if (known !== undefined && known.request !== request) return { outcome: 'key reused' }
          const order = known === undefined ? null : records.get(known.order_id)
          if (order !== null) return { outcome: 'repeated', order }
        }
        const id = (lastId.get() ?? 0) + 1
        const order = {
          id: String(id),
          orderNumber: numbers.next(),
          ...createFirstVersion(given, new Date(now).toISOString()),
        }
        records.add(order, by)
        if (key !== null) addKey.run(key, request, id, now)
        return { outcome: 'created', order }
      })
    },
    /** Changes an order, all of it or nothing. */
    change: (id: string, changes: OrderChanges, context: ChangeContext) =>
      change(id, context, (order, now) => applyChanges(order, changes, now)),
    /** Calls an order off; the record stays. */
    cancel: (id: string, context: ChangeContext) => change(id, context, cancelOrder),
    /** Takes an order one step back: see `undoneOrder`. */
    undo: (id: string, context: ChangeContext) =>
      change(id, context, (order, now) =>
        undoLastChange(order, written.history(Number(order.id)) ?? [], now),
      ),
    /** Notes the next step of placing an order at the order source, where it follows. */
    notePlacement: (id: string, step: FulfilmentAttempt, context: ChangeContext) =>
      change(id, context, (order, now) =>
        applyAttempt(order, written.history(Number(order.id)) ?? [], step, now),
      ),
    /** Throws where the book cannot be read, or goes by other days. */
    check: () => minding(() => check('reading')),
    /** Turns what another thread throws that reads the book as it is now into what callers are told. */
    explainer:
      () =>
      (error: unknown): unknown =>
        condition.told(error),
    /**
     * Why the disk takes no changes, in words; `null` where nothing is known to be wrong. After a
     * change that failed, it tries by itself whether the next would.
     */
    diskTrouble(): string | null {
      if (diskFault === null) return null
      try {
        db.exec(TRIAL)
        diskFault = null
        return null
      } catch (error) {
        return describeDatabaseError(isBusy(error) ? diskFault : error)
      }
    },
    async close(): Promise<void> {
      await Promise.all([search.close(), integrity?.close()])
      reading.close()
      db.close()
    },
  }
}

/** Orders as the features use them, wherever they are kept. */
export type OrderDatabase = Omit<ReturnType<typeof openOrderDatabase>, 'diskTrouble'>
