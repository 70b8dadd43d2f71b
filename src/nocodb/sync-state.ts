import { Problem } from '../core/http/problem.js'
import type { Database } from '../database/database.js'
import type { Freshness, Readiness } from '../orders/store/order-store.js'
import { readState, writeState, type MirrorState } from './mirror-state.js'

/** What the process that syncs tells the others. */
interface SyncReport {
  /** During the first load: the number of loaded rows, and of all rows */
  progress: { done: number; total: number } | null
  /** Why the last sync pass failed; a sentence without a full stop */
  error: string | null
  /** Such as "Notes is missing"; empty if the schema of the table is valid */
  schemaMismatches: string[]
  /** Rows that are not valid orders: their number, and descriptions of the first ones */
  skippedRows: { count: number; first: string[] }
}

/** NocoDB counts as slow if the mirror lags by more than the sync interval plus this time, ms. */
const MAX_LAG_MS = 60_000

const RETRY_AFTER_S = 5
/** For errors that an operator must fix, in seconds. */
export const RETRY_AFTER_FIX_S = 60

const capitalize = (sentence: string): string =>
  sentence.charAt(0).toUpperCase() + sentence.slice(1)

/** A write that was not executed. */
export const createNotSavedProblem = (
  reason: string,
  retryAfter: number = RETRY_AFTER_S,
): Problem =>
  new Problem(503, `Nothing was saved. ${capitalize(reason)}.`, {
    headers: { 'retry-after': String(retryAfter) },
  })

const formatCount = (count: number): string => count.toLocaleString('en')

/** The state of the synchronisation, which all processes read from the database. */
export class SyncState {
  /** Whether the mirror has all orders */
  isLoaded = false
  /** The mirror has all changes up to this time, ISO 8601; `null` before the first sync */
  asOf: string | null = null
  report: SyncReport = {
    progress: null,
    error: null,
    schemaMismatches: [],
    skippedRows: { count: 0, first: [] },
  }
  /** When the mirror was last up to date, by `performance.now()` */
  #syncedAt = performance.now()

  constructor(
    readonly database: Database,
    readonly syncIntervalMs: number,
  ) {}

  /** Reads what the process that syncs has written. */
  async refresh(): Promise<void> {
    this.#set(await readState(this.database))
  }

  /** Tells all processes. */
  async update(changes: Partial<SyncReport>, others: MirrorState = {}): Promise<void> {
    const report = { ...this.report, ...changes }
    const state = { ...others, report: JSON.stringify(report) }
    this.#set(state)
    await this.database.write((tx) => writeState(tx, state))
  }

  #set({ loaded, as_of: asOf, report }: MirrorState): void {
    this.isLoaded ||= loaded !== undefined
    if (report !== undefined) this.report = JSON.parse(report) as SyncReport
    if (asOf === undefined || asOf === this.asOf) return
    this.asOf = asOf
    // A change of the system clock does not affect the lag.
    this.#syncedAt = performance.now() - Math.max(0, Date.now() - Date.parse(asOf))
  }

  /** Why the mirror is not up to date, as a sentence without a full stop; `null` if it is. */
  describeError(): string | null {
    const { error, schemaMismatches } = this.report
    return error === null || schemaMismatches.length === 0
      ? error
      : `the schema of the orders table in NocoDB is invalid (${schemaMismatches.join('; ')}); npm run nocodb:setup adds what is missing`
  }

  /** Describes the progress of the first load; the text has no final full stop. */
  #describeLoading(): string {
    const { progress } = this.report
    const error = this.describeError()
    return [
      'orders are loading from NocoDB',
      progress === null ? '' : `: ${formatCount(progress.done)} of ${formatCount(progress.total)}`,
      error === null ? '' : `. Loading is interrupted: ${error}`,
    ].join('')
  }

  /** Throws a Problem (503) during the first load: incomplete results would seem complete. */
  requireLoaded(): void {
    if (this.isLoaded) return
    throw new Problem(503, `${capitalize(this.#describeLoading())}.`, {
      headers: { 'retry-after': String(RETRY_AFTER_S) },
      members: { progress: this.report.progress ?? { done: 0, total: 0 } },
    })
  }

  /** Throws a Problem (503) during the first load, and while the schema is invalid. */
  requireWritable(): void {
    const isSchemaInvalid = this.report.schemaMismatches.length > 0
    if (this.isLoaded && !isSchemaInvalid) return
    throw createNotSavedProblem(
      this.describeError() ?? 'orders are loading from NocoDB. Try again later',
      isSchemaInvalid ? RETRY_AFTER_FIX_S : RETRY_AFTER_S,
    )
  }

  getFreshness(): Freshness {
    const { isLoaded, asOf } = this
    if (!isLoaded) {
      return { asOf: null, problem: capitalize(this.#describeLoading()), isWritable: false }
    }
    const problem = this.describeError()
    if (problem !== null) return { asOf, problem, isWritable: false }
    const isSlow = performance.now() - this.#syncedAt > MAX_LAG_MS + this.syncIntervalMs
    return { asOf, problem: isSlow ? 'NocoDB is responding slowly' : null, isWritable: true }
  }

  /**
   * Does not depend on whether NocoDB is available, because reads do not need it and an outage would
   * make every process unready.
   */
  getReadiness(): Readiness {
    const { isLoaded, asOf } = this
    const { skippedRows } = this.report
    const error = this.describeError()
    const rows = skippedRows.count === 1 ? 'row' : 'rows'
    const parts = [
      isLoaded ? `orders can be read, as of ${asOf ?? 'an unknown time'}` : this.#describeLoading(),
      ...(isLoaded && error !== null ? [`sync failed: ${error}`] : []),
      ...(skippedRows.count === 0
        ? []
        : [`${formatCount(skippedRows.count)} ${rows} skipped (${skippedRows.first.join('; ')})`]),
    ]
    return { ready: isLoaded, detail: parts.join('; ') }
  }
}
