import { setImmediate } from 'node:timers/promises'
import type { DayCalendar } from '../core/formatting/day-calendar.js'
import { CommitUnknownError, type Database, type Queryable } from '../database/database.js'
import { DATABASE_NOW } from '../database/state-store/state-store.js'
import type { Order } from '../orders/order.js'
import { DIALECTS } from '../orders/store/dialect.js'
import { readOrder } from '../orders/store/order-records.js'
import { checkTimeZone } from '../orders/store/store-settings.js'
import { addTotals, TotalsSum } from '../orders/store/totals.js'
import type { ColumnTitles, Row } from './columns.js'
import {
  MirrorChunk,
  removeOrder,
  toDigest,
  toStamp,
  type MirrorTransaction,
  type RowError,
} from './mirror-chunk.js'
import { readState, writeState, type MirrorState } from './mirror-state.js'

/** Rows per transaction, so that other requests do not wait for long. */
const CHUNK_SIZE = 25

/** Rows as NocoDB returned them. */
export interface RowsRead {
  rows: readonly Row[]
  /** When they were requested, by the clock of the database */
  requestedAt: number
}

function* split<T>(values: readonly T[]): Generator<T[]> {
  for (let start = 0; start < values.length; start += CHUNK_SIZE) {
    yield values.slice(start, start + CHUNK_SIZE)
  }
}

/** The rows of a NocoDB table, mirrored as orders in the database of the service. */
export class Mirror {
  readonly #dialect
  readonly #now

  constructor(
    readonly database: Database,
    readonly calendar: DayCalendar,
    readonly titles: ColumnTitles,
  ) {
    this.#dialect = DIALECTS[database.engine]
    this.#now = DATABASE_NOW[database.engine]
  }

  async #queryNumber(sql: string, values: readonly number[] = []): Promise<number> {
    const [row] = await this.database.query<{ value: number }>(sql, values)
    return row?.value ?? 0
  }

  /**
   * Runs a transaction. Those of all processes follow one another: they lock the same row. If it is
   * unknown whether it was committed, runs it again, which does no harm.
   */
  async #write<T>(work: (transaction: MirrorTransaction) => Promise<T>): Promise<T> {
    const run = () =>
      this.database.write(async (tx) => {
        await tx.query("UPDATE nocodb_state SET value = value WHERE name = 'source'")
        await checkTimeZone(tx, this.calendar.timeZone)
        const totals = new TotalsSum(this.calendar)
        const result = await work({ tx, dialect: this.#dialect, totals })
        await addTotals(tx, totals)
        return result
      })
    try {
      return await run()
    } catch (error) {
      if (error instanceof CommitUnknownError) return run()
      throw error
    }
  }

  /** The time by the clock of the database, which all processes share. */
  now = (): Promise<number> => this.#queryNumber(`SELECT ${this.#now} AS value`)

  /** The rows that differ from their mirrored state, unless that was requested later. */
  async #findChanged(tx: Queryable, { rows, requestedAt }: RowsRead): Promise<Row[]> {
    const { sql, values } = this.#dialect.isOneOf(
      'id',
      rows.map(({ Id }) => Id),
    )
    // A time in the future is from a clock that was wrong.
    const known = await tx.query<{ id: number; digest: string; isLater: boolean | number }>(
      `SELECT id, digest, requested_at > ? AND requested_at <= ${this.#now} AS "isLater"
       FROM nocodb_rows WHERE ${sql}`,
      [requestedAt, ...values],
    )
    const states = new Map(known.map((state) => [state.id, state]))
    return rows.filter((row) => {
      const state = states.get(row.Id)
      if (state === undefined) return true
      return !state.isLater && state.digest !== toDigest(row, this.titles)
    })
  }

  /**
   * Mirrors rows, then changes the state. Ignores a row if a later state of it
   * is mirrored already. Returns the rows with errors.
   */
  async upsert({ rows, requestedAt }: RowsRead, state: MirrorState = {}): Promise<RowError[]> {
    const errors: RowError[] = []
    for (const part of split(rows)) {
      const changed = await this.#findChanged(this.database, { rows: part, requestedAt })
      if (changed.length > 0) errors.push(...(await this.#apply({ rows: changed, requestedAt })))
      await setImmediate()
    }
    if (Object.keys(state).length > 0) await this.setState(state)
    return errors
  }

  #apply = (read: RowsRead): Promise<RowError[]> =>
    this.#write(async (transaction) => {
      const { tx } = transaction
      // Existing orders that the first load finds are not changes, so they have no events.
      const hasEvents = (await readState(tx)).loaded !== undefined
      const chunk = new MirrorChunk(transaction, this.titles, read.requestedAt, hasEvents)
      // Again, because another process may have mirrored the rows since.
      return chunk.upsert(await this.#findChanged(tx, read))
    })

  /** Deletes rows that did not exist when they were requested. */
  async delete(ids: readonly number[], requestedAt: number): Promise<void> {
    for (const part of split(ids)) {
      const { sql, values } = this.#dialect.isOneOf('id', part)
      await this.#write(async (transaction) => {
        const rows = await transaction.tx.query<{ id: number }>(
          `DELETE FROM nocodb_rows WHERE ${sql} AND requested_at <= ? RETURNING id`,
          [...values, requestedAt],
        )
        for (const { id } of rows) await removeOrder(transaction, id)
      })
      await setImmediate()
    }
  }

  get = (id: number): Promise<Order | null> => readOrder(this.database, id)

  getState = (): Promise<MirrorState> => readState(this.database)

  setState = (changes: MirrorState): Promise<void> =>
    this.database.write((tx) => writeState(tx, changes))

  getStamp = (row: Row): string => toStamp(row, this.titles)

  /** Counts rows with `after < id <= upTo`. */
  count = (after = 0, upTo: number = Number.MAX_SAFE_INTEGER): Promise<number> =>
    this.#queryNumber('SELECT count(*) AS value FROM nocodb_rows WHERE id > ? AND id <= ?', [
      after,
      upTo,
    ])

  getStamps = (after: number, upTo: number): Promise<{ id: number; stamp: string }[]> =>
    this.database.query('SELECT id, stamp FROM nocodb_rows WHERE id > ? AND id <= ? ORDER BY id', [
      after,
      upTo,
    ])

  /** The id of the n-th row with `id > after`, counting from 0; 0 if there is none. */
  getNthId = (after: number, n: number): Promise<number> =>
    this.#queryNumber(
      'SELECT id AS value FROM nocodb_rows WHERE id > ? ORDER BY id LIMIT 1 OFFSET ?',
      [after, n],
    )

  getLastId = (): Promise<number> =>
    this.#queryNumber('SELECT coalesce(max(id), 0) AS value FROM nocodb_rows')

  /** Rows that are not valid orders: how many, and descriptions of the first ones. */
  async getSkippedRows(): Promise<{ count: number; first: string[] }> {
    const skipped = 'FROM nocodb_rows WHERE fault IS NOT NULL'
    const rows = await this.database.query<{ id: number; fault: string }>(
      `SELECT id, fault ${skipped} ORDER BY id LIMIT 10`,
    )
    return {
      count: await this.#queryNumber(`SELECT count(*) AS value ${skipped}`),
      first: rows.map(({ id, fault }) => `row ${id}: ${fault}`),
    }
  }

  /** Ids of the first orders with an edit made in NocoDB that is not recorded there yet. */
  async getEditedIds(): Promise<number[]> {
    const sql = 'SELECT id FROM nocodb_rows WHERE edited = 1 ORDER BY id LIMIT 10'
    return (await this.database.query<{ id: number }>(sql)).map(({ id }) => id)
  }
}
