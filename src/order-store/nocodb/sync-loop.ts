import { setTimeout as sleep } from 'node:timers/promises'
import { isCorruption } from '../../database/database-error.js'
import { getBackOffMs } from './back-off.js'
import { NocoDbError } from './nocodb-error.js'
import type { OrdersTable } from './orders-table.js'
import type { Replica, RowError } from './replica.js'
import { createSyncPasses } from './sync-pass.js'
import { NOT_LOADED, type SyncState, type WorkerLog } from './sync-state.js'
import type { SchemaMismatch } from './schema-check.js'
import { notReady } from './write-rejection.js'

interface Options {
  table: OrdersTable
  replica: Replica
  /** Tells what keeps the table from holding orders */
  findMisfits: () => Promise<SchemaMismatch[]>
  /** Takes up an edit made in NocoDB as a version of the order */
  adopt: (id: number) => Promise<void>
  /** How long NocoDB has asked to be left alone, ms */
  pausedFor: () => number
  intervalMs: number
  log: WorkerLog
  /** Is told whenever the state has changed */
  onState: (state: SyncState) => void
  /** Is told where the copy is no whole database any more */
  onDamage: () => void
}

/** Everything is compared so often, ms: what no faster way has found. */
const COMPARE_ALL_MS = 60 * 60_000

/** More rows with faults than this are counted in the log, not named. */
const MOST_NAMED = 20

const LOG_PROGRESS_MS = 5_000

const faultText = ({ id, faults }: RowError): string =>
  `row ${id}: ${faults.map(({ column, fault }) => `${column} ${fault}`).join(', ')}`

/** Keeps a copy of the orders up with NocoDB until it is stopped, whatever NocoDB does. */
export function createSyncLoop({
  table,
  replica,
  findMisfits,
  adopt,
  pausedFor,
  intervalMs,
  log,
  onState,
  onDamage,
}: Options) {
  const stopping = new AbortController()
  const failures = getBackOffMs({ firstMs: 500, longestMs: Math.max(10_000, intervalMs) })
  const passes = createSyncPasses({ table, replica, onFaults, onProgress })
  let comparedAt = performance.now()
  let fits = false
  let isFitInDoubt = true
  let loggedProgressAt = 0
  let state: SyncState = {
    ...NOT_LOADED,
    isLoaded: replica.setting('loaded') !== null,
    asOf: replica.setting('as_of'),
    leftOut: leftOut(),
  }

  function leftOut(): SyncState['leftOut'] {
    const { count, first } = replica.leftOut()
    return { count, first: first.map(({ id, fault }) => `row ${id}: ${fault}`) }
  }

  function tell(changes: Partial<SyncState>): void {
    state = { ...state, ...changes }
    onState(state)
  }

  function onFaults(faults: RowError[]): void {
    for (const fault of faults.slice(0, MOST_NAMED)) {
      const what = fault.isLeftOut ? 'is no order and is left out' : 'is shown without some cells'
      log.warn({ row: fault.id }, `a row in NocoDB ${what}: ${faultText(fault)}`)
    }
    const more = faults.length - MOST_NAMED
    if (more > 0) log.warn({ rows: more }, 'more rows in NocoDB have cells that cannot be read')
  }

  function onProgress(done: number, total: number): void {
    tell({ progress: { done, total } })
    if (performance.now() - loggedProgressAt < LOG_PROGRESS_MS && done < total) return
    loggedProgressAt = performance.now()
    log.info({ done, total }, 'loading orders from NocoDB')
  }

  /** Looks at the columns once, and again while they do not do or there is a hint that they may not. */
  async function requireFit(): Promise<boolean> {
    if (!isFitInDoubt) return true
    const found = await findMisfits()
    const words = found.map(({ title, fault }) => `${title} ${fault}`)
    if (words.join() !== state.misfits.join()) {
      for (const { title, fault } of found) {
        log.error({ column: title }, `the orders table in NocoDB does not fit: ${title} ${fault}`)
      }
    }
    fits = found.length === 0
    isFitInDoubt = !fits
    if (!fits && replica.setting('loaded_to') !== null) replica.set('misfit', 'yes')
    tell({ misfits: words })
    return fits
  }

  async function round(): Promise<void> {
    const begun = new Date().toISOString()
    if (!state.isLoaded) {
      await passes.load()
      tell({ progress: null })
    }
    if (replica.setting('misfit') === 'yes') {
      await passes.readAll()
      replica.set('misfit', 'no')
    }
    await passes.changes()
    await passes.evenOut()
    if (performance.now() - comparedAt > COMPARE_ALL_MS) {
      comparedAt = performance.now()
      isFitInDoubt = true
      await passes.compareAll()
    }
    replica.set('as_of', begun)
    replica.tidyUp()
    if (state.trouble !== null) log.info({}, 'NocoDB is back; the orders have caught up')
    failures.succeeded()
    tell({ isLoaded: true, asOf: begun, trouble: null, leftOut: leftOut() })
    for (const id of replica.edited()) await adopt(id)
  }

  function fail(trouble: string, details: object): number {
    if (trouble !== state.trouble) {
      log.error(details, `the orders do not keep up with NocoDB: ${trouble}`)
    }
    tell({ trouble, leftOut: leftOut() })
    return Math.max(failures.failed(), pausedFor())
  }

  /** One round; tells how long to wait for the next one, ms. */
  async function attempt(): Promise<number> {
    const begun = performance.now()
    try {
      if (!(await requireFit())) {
        return fail('the orders table does not fit; npm run nocodb:setup adds what it lacks', {})
      }
      await round()
      // Rounds begin in the interval, though one that takes long leaves room for other requests.
      return Math.max(intervalMs - (performance.now() - begun), intervalMs / 2)
    } catch (error) {
      if (stopping.signal.aborted) return 0
      passes.doubt()
      if (isCorruption(error)) onDamage()
      if (!(error instanceof NocoDbError)) return fail('orders cannot be taken in', { err: error })
      if (error.trouble === 'no such column') fits = false
      isFitInDoubt ||= !fits || error.trouble === 'question refused'
      return fail(error.message, { status: error.status, code: error.code })
    }
  }

  async function run(): Promise<void> {
    onState(state)
    while (!stopping.signal.aborted) {
      const pause = await attempt()
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  return {
    /** Begins; resolves when it has been stopped. */
    run,
    stop: (): void => stopping.abort(),
    /** Throws WriteRefused unless all orders have been taken in, and the table has all columns. */
    requireWritable(): void {
      if (!fits || !state.isLoaded) throw notReady(state)
    },
    /** NocoDB did not take a write as it should: the columns are looked at again. */
    doubtFit(): void {
      isFitInDoubt = true
    },
  }
}
