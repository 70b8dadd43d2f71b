import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { DatabaseUnavailableError } from '../database/database.js'
import { releaseLease, takeLease } from '../database/state-store/state-store.js'
import { formatCellErrors, type RowError } from './mirror-chunk.js'
import type { Mirror } from './mirror.js'
import { NocoDbError } from './nocodb-client.js'
import type { OrdersTable } from './orders-table.js'
import { createBackOff } from './request-budget.js'
import { createSyncPasses } from './sync-pass.js'
import type { SyncState } from './sync-state.js'

interface Options {
  table: OrdersTable
  mirror: Mirror
  state: SyncState
  /** Records an edit made in NocoDB as a version of the order */
  recordEdit: (id: number) => Promise<void>
  /** Remaining time of the pause that NocoDB has requested, ms */
  getPauseMs: () => number
  log: FastifyBaseLogger
}

const COMPARE_ALL_INTERVAL_MS = 60 * 60_000

/** Maximum number of rows per page whose errors are logged individually. */
const MAX_LOGGED_ROWS = 20

const LOG_PROGRESS_INTERVAL_MS = 5_000

/** How often a process reads the state, and tries to become the one that syncs. */
const TICK_MS = 1_000
/** Another process takes over if the one that syncs does not respond for this long. */
const LEASE_MS = 10_000

/** Keeps the mirror up to date with NocoDB, in one of the processes that share a database. */
export class SyncLoop {
  readonly #lease = { name: 'nocodb-sync', holder: randomUUID() }
  readonly #stopping = new AbortController()
  readonly #backOff
  readonly #passes
  #isHolder = false
  #heldAt = 0
  #comparedAt = performance.now()
  #isSchemaCheckDue = true
  #loggedProgressAt = 0
  #following = Promise.resolve()
  #syncing = Promise.resolve()

  constructor(readonly options: Options) {
    const maxMs = Math.max(10_000, options.state.syncIntervalMs)
    this.#backOff = createBackOff({ minMs: 500, maxMs })
    this.#passes = createSyncPasses({
      ...options,
      onRowErrors: (rows) => this.#logRowErrors(rows),
      onProgress: (done, total) => this.#reportProgress(done, total),
    })
  }

  start(): void {
    this.#following = this.#follow()
  }

  /** Requests in progress must fail soon, so close the client before. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#following
    await this.#syncing
    // If the database is away, the lease expires.
    await releaseLease(this.options.mirror.database, this.#lease).catch(() => undefined)
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  async #sleep(milliseconds: number): Promise<void> {
    const { signal } = this.#stopping
    await sleep(milliseconds, undefined, { signal }).catch(() => undefined)
  }

  /** Holds the lease and syncs, or reads what its holder reports. */
  async #follow(): Promise<void> {
    const { state, log } = this.options
    let hasFailed = false
    while (!this.#isStopping) {
      try {
        const isHolder = await this.#holdLease()
        if (!this.#isHolder) await state.refresh()
        if (isHolder && !this.#isHolder) this.#syncing = this.#syncing.then(() => this.#sync())
        this.#isHolder = isHolder
        hasFailed = false
      } catch (err) {
        this.#isHolder = false
        if (!hasFailed) log.error({ err }, 'the state of the NocoDB sync cannot be read')
        hasFailed = true
      }
      await this.#sleep(TICK_MS)
    }
  }

  async #holdLease(): Promise<boolean> {
    if (this.#isHolder && performance.now() - this.#heldAt < LEASE_MS / 3) return true
    this.#heldAt = performance.now()
    return takeLease(this.options.mirror.database, this.#lease, LEASE_MS)
  }

  async #sync(): Promise<void> {
    while (this.#isHolder && !this.#isStopping) await this.#sleep(await this.#runPass())
  }

  #logRowErrors(rows: readonly RowError[]): void {
    const { log } = this.options
    for (const { id, errors, isSkipped } of rows.slice(0, MAX_LOGGED_ROWS)) {
      const action = isSkipped ? 'skipped a NocoDB row' : 'ignored invalid cells of a NocoDB row'
      log.warn({ row: id }, `${action}: ${formatCellErrors(errors)}`)
    }
    const others = rows.length - MAX_LOGGED_ROWS
    if (others > 0) log.warn({ rows: others }, 'more NocoDB rows have invalid cells')
  }

  async #reportProgress(done: number, total: number): Promise<void> {
    await this.options.state.update({ progress: { done, total } })
    const isRecent = performance.now() - this.#loggedProgressAt < LOG_PROGRESS_INTERVAL_MS
    if (isRecent && done < total) return
    this.#loggedProgressAt = performance.now()
    this.options.log.info({ done, total }, 'loading orders from NocoDB')
  }

  async #checkSchema(): Promise<boolean> {
    const { mirror, state, log, table } = this.options
    const mismatches = await table.findSchemaMismatches()
    const schemaMismatches = mismatches.map(({ title, reason }) => `${title} ${reason}`)
    const isValid = mismatches.length === 0
    if (schemaMismatches.join() !== state.report.schemaMismatches.join()) {
      for (const { title, reason } of mismatches) {
        log.error({ column: title }, `invalid schema of the NocoDB table: ${title} ${reason}`)
      }
      await state.update({ schemaMismatches })
    }
    // Columns may have lost their values, which does not change the timestamps of rows.
    await mirror.setState({ suspect: 'no', ...(isValid ? {} : { misfit: 'yes' }) })
    this.#isSchemaCheckDue = !isValid
    return isValid
  }

  async #bringUpToDate(): Promise<void> {
    const { mirror, state, log, recordEdit } = this.options
    const asOf = new Date().toISOString()
    const { loaded, misfit } = await mirror.getState()
    if (loaded === undefined) {
      await this.#passes.load()
      await state.refresh()
    }
    if (misfit === 'yes') {
      await this.#passes.readAll()
      await mirror.setState({ misfit: 'no' })
    }
    await this.#passes.readChanges()
    await this.#passes.reconcileDeletions()
    if (performance.now() - this.#comparedAt > COMPARE_ALL_INTERVAL_MS) {
      this.#comparedAt = performance.now()
      this.#isSchemaCheckDue = true
      await this.#passes.compareAll()
    }
    if (state.report.error !== null) log.info('NocoDB is available again; orders are up to date')
    this.#backOff.reset()
    const skippedRows = await mirror.getSkippedRows()
    await state.update({ progress: null, error: null, skippedRows }, { as_of: asOf })
    for (const id of await mirror.getEditedIds()) await recordEdit(id)
  }

  /** Reports an error; returns the delay before the next pass, ms. */
  async #fail(error: string, details: object): Promise<number> {
    const { mirror, state, log, getPauseMs } = this.options
    if (error !== state.report.error) {
      log.error(details, `syncing orders from NocoDB failed: ${error}`)
    }
    await state.update({ error, skippedRows: await mirror.getSkippedRows() })
    return Math.max(this.#backOff.nextDelayMs(), getPauseMs())
  }

  /** Runs one sync pass; returns the delay before the next one, ms. */
  async #runPass(): Promise<number> {
    const { mirror, state } = this.options
    const startedAt = performance.now()
    try {
      const isCheckDue = this.#isSchemaCheckDue || (await mirror.getState()).suspect === 'yes'
      if (isCheckDue && !(await this.#checkSchema())) {
        return await this.#fail(
          'invalid table schema; npm run nocodb:setup adds what is missing',
          {},
        )
      }
      await this.#bringUpToDate()
      // Even after a slow pass, leaves at least half of the interval for other requests.
      const { syncIntervalMs } = state
      return Math.max(syncIntervalMs - (performance.now() - startedAt), syncIntervalMs / 2)
    } catch (error) {
      if (this.#isStopping) return 0
      this.#passes.markUncertain()
      return this.#handleError(error).catch(() => this.#backOff.nextDelayMs())
    }
  }

  #handleError(error: unknown): Promise<number> {
    if (error instanceof NocoDbError) {
      const { errorCode, message, status, code } = error
      const isSuspect = errorCode === 'column_not_found' || errorCode === 'query_rejected'
      this.#isSchemaCheckDue ||= isSuspect
      return this.#fail(message, { status, code })
    }
    return this.#fail(
      error instanceof DatabaseUnavailableError
        ? 'the order database is not available'
        : 'internal error',
      { err: error },
    )
  }
}
