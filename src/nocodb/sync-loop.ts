import { setTimeout as sleep } from 'node:timers/promises'
import { isCorruption } from '../database/database-error.js'
import { NocoDbError } from './nocodb-error.js'
import type { OrdersTable } from './orders-table.js'
import { NOT_LOADED, type SyncState, type WorkerLog } from './replica-messages.js'
import { formatCellErrors, type Replica, type RowError } from './replica.js'
import { createBackOff } from './request-budget.js'
import type { SchemaMismatch } from './schema-check.js'
import { createSyncPasses } from './sync-pass.js'
import { notReady } from './write-rejection.js'

interface Options {
  table: OrdersTable
  replica: Replica
  findMismatches: () => Promise<SchemaMismatch[]>
  /** Records an edit made in NocoDB as a version of the order */
  recordEdit: (id: number) => Promise<void>
  /** Remaining time of the pause that NocoDB has requested, ms */
  getPauseMs: () => number
  intervalMs: number
  log: WorkerLog
  onState: (state: SyncState) => void
  /** Called if the database file of the replica is corrupt */
  onCorruption: () => void
}

const COMPARE_ALL_INTERVAL_MS = 60 * 60_000

/** Maximum number of rows per page whose errors are logged individually. */
const MAX_LOGGED_ROWS = 20

const LOG_PROGRESS_INTERVAL_MS = 5_000

/** Keeps a replica up to date with NocoDB until it is stopped. */
export function createSyncLoop({
  table,
  replica,
  findMismatches,
  recordEdit,
  getPauseMs,
  intervalMs,
  log,
  onState,
  onCorruption,
}: Options) {
  const stopping = new AbortController()
  const backOff = createBackOff({ minMs: 500, maxMs: Math.max(10_000, intervalMs) })
  const passes = createSyncPasses({ table, replica, onRowErrors, onProgress })
  let comparedAt = performance.now()
  let isSchemaValid = false
  let isSchemaCheckDue = true
  let loggedProgressAt = 0
  let state: SyncState = {
    ...NOT_LOADED,
    isLoaded: replica.getSetting('loaded') !== null,
    asOf: replica.getSetting('as_of'),
    skippedRows: replica.getSkippedRows(),
  }

  function setState(changes: Partial<SyncState>): void {
    state = { ...state, ...changes }
    onState(state)
  }

  function onRowErrors(rows: RowError[]): void {
    for (const { id, errors, isSkipped } of rows.slice(0, MAX_LOGGED_ROWS)) {
      const action = isSkipped ? 'skipped a NocoDB row' : 'ignored invalid cells of a NocoDB row'
      log.warn({ row: id }, `${action}: ${formatCellErrors(errors)}`)
    }
    const others = rows.length - MAX_LOGGED_ROWS
    if (others > 0) log.warn({ rows: others }, 'more NocoDB rows have invalid cells')
  }

  function onProgress(done: number, total: number): void {
    setState({ progress: { done, total } })
    if (performance.now() - loggedProgressAt < LOG_PROGRESS_INTERVAL_MS && done < total) return
    loggedProgressAt = performance.now()
    log.info({ done, total }, 'loading orders from NocoDB')
  }

  async function checkSchema(): Promise<void> {
    const mismatches = await findMismatches()
    const schemaMismatches = mismatches.map(({ title, reason }) => `${title} ${reason}`)
    if (schemaMismatches.join() !== state.schemaMismatches.join()) {
      for (const { title, reason } of mismatches) {
        log.error({ column: title }, `invalid schema of the NocoDB table: ${title} ${reason}`)
      }
    }
    isSchemaValid = mismatches.length === 0
    isSchemaCheckDue = !isSchemaValid
    // Columns may have lost their values, which does not change the timestamps of rows.
    if (!isSchemaValid && replica.getSetting('loaded_to') !== null) {
      replica.setSetting('misfit', 'yes')
    }
    setState({ schemaMismatches })
  }

  async function sync(): Promise<void> {
    const asOf = new Date().toISOString()
    if (!state.isLoaded) {
      await passes.load()
      setState({ progress: null })
    }
    if (replica.getSetting('misfit') === 'yes') {
      await passes.readAll()
      replica.setSetting('misfit', 'no')
    }
    await passes.readChanges()
    await passes.reconcileDeletions()
    if (performance.now() - comparedAt > COMPARE_ALL_INTERVAL_MS) {
      comparedAt = performance.now()
      isSchemaCheckDue = true
      await passes.compareAll()
    }
    replica.setSetting('as_of', asOf)
    replica.pruneRequestTimes()
    if (state.error !== null) log.info({}, 'NocoDB is available again; orders are up to date')
    backOff.reset()
    setState({ isLoaded: true, asOf, error: null, skippedRows: replica.getSkippedRows() })
    for (const id of replica.getEditedIds()) await recordEdit(id)
  }

  /** Reports an error; returns the delay before the next pass, ms. */
  function fail(error: string, details: object): number {
    if (error !== state.error) log.error(details, `syncing orders from NocoDB failed: ${error}`)
    setState({ error, skippedRows: replica.getSkippedRows() })
    return Math.max(backOff.nextDelayMs(), getPauseMs())
  }

  /** Runs one sync pass; returns the delay before the next one, ms. */
  async function runPass(): Promise<number> {
    const startedAt = performance.now()
    try {
      if (isSchemaCheckDue) await checkSchema()
      if (!isSchemaValid) {
        return fail('invalid table schema; npm run nocodb:setup adds what is missing', {})
      }
      await sync()
      // Even after a slow pass, leaves at least half of the interval for other requests.
      return Math.max(intervalMs - (performance.now() - startedAt), intervalMs / 2)
    } catch (error) {
      if (stopping.signal.aborted) return 0
      passes.markUncertain()
      if (isCorruption(error)) onCorruption()
      if (!(error instanceof NocoDbError)) return fail('internal error', { err: error })
      const { errorCode, message, status, code } = error
      if (errorCode === 'column_not_found') isSchemaValid = false
      isSchemaCheckDue ||= !isSchemaValid || errorCode === 'query_rejected'
      return fail(message, { status, code })
    }
  }

  return {
    /** Syncs until `stop` is called. */
    async run(): Promise<void> {
      onState(state)
      while (!stopping.signal.aborted) {
        const delayMs = await runPass()
        await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined)
      }
    },
    stop: (): void => stopping.abort(),
    /** Throws WriteRejectedError unless all orders are loaded and the schema is valid. */
    requireWritable(): void {
      if (!isSchemaValid || !state.isLoaded) throw notReady(state)
    },
    /** Makes the next pass check the schema. */
    requestSchemaCheck(): void {
      isSchemaCheckDue = true
    },
  }
}
