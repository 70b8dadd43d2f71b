import { parseTimestamp, type ColumnField, type Row } from './columns.js'
import type { RowError } from './mirror-chunk.js'
import type { MirrorState } from './mirror-state.js'
import type { Mirror, RowsRead } from './mirror.js'
import { NocoDbError } from './nocodb-client.js'
import type { OrdersTable, Page } from './orders-table.js'

const MAX_PAGE_SIZE = 1_000
const MIN_PAGE_SIZE = 10
const MAX_ID = Number.MAX_SAFE_INTEGER

/** Rows with a changed stamp are read in batches of this size. */
const BATCH_SIZE = 100

/**
 * Concurrent writes may become visible out of order, and the clocks of several NocoDB servers
 * differ. Rows modified up to this long before the last known change are therefore read again,
 * until there have been no changes for the same length of time.
 */
const OVERLAP_MS = 15_000

const STAMP_FIELDS: ColumnField[] = ['version', 'writeToken']

interface Options {
  table: OrdersTable
  mirror: Mirror
  onRowErrors: (errors: RowError[]) => void
  onProgress: (done: number, total: number) => Promise<void>
  /** Set by tests only */
  overlapMs?: number
}

const toMilliseconds = (cell: unknown): number => Date.parse(parseTimestamp(cell) ?? '1970-01-01')

const getModified = ({ CreatedAt, UpdatedAt }: Row): number =>
  Math.max(toMilliseconds(CreatedAt), toMilliseconds(UpdatedAt))

type PagesRequest = Omit<Parameters<OrdersTable['getPage']>[0], 'limit'>

/** The steps that bring a mirror up to date with NocoDB. All throw NocoDbError. */
export function createSyncPasses({
  table,
  mirror,
  onRowErrors,
  onProgress,
  overlapMs = OVERLAP_MS,
}: Options) {
  let pageSize = MAX_PAGE_SIZE
  let lastChangeAt = performance.now()
  /** Whether the rows modified around the time of the last known change have been read again. */
  let isSettled = false
  /** Whether NocoDB may have been restored to an earlier state since the last pass. */
  let mayBeRestored = true

  /** Reads a page; tries again with fewer rows if the response is too large or does not arrive. */
  async function getPage(request: PagesRequest): Promise<Page> {
    for (;;) {
      try {
        return await table.getPage({ ...request, limit: pageSize })
      } catch (error) {
        const isTooLarge =
          error instanceof NocoDbError &&
          ['response_too_large', 'no_response'].includes(error.errorCode)
        if (!isTooLarge || pageSize <= MIN_PAGE_SIZE) throw error
        pageSize = Math.max(MIN_PAGE_SIZE, Math.floor(pageSize / 2))
      }
    }
  }

  /** Reads all pages of the rows with higher ids than `after`. */
  async function* readPages({ after, ...request }: PagesRequest): AsyncGenerator<Page> {
    for (let last = after; ;) {
      const page = await getPage({ ...request, after: last })
      yield page
      if (page.isLast) return
      last = page.rows.at(-1)?.Id ?? last
    }
  }

  async function save(read: RowsRead, state?: MirrorState): Promise<void> {
    onRowErrors(await mirror.upsert(read, state))
  }

  async function readRows(after: number): Promise<void> {
    for await (const page of readPages({ after })) await save(page)
  }

  /** Compares the stamps of rows with `from < id <= upTo`, and reads changed rows. */
  async function compareRows(from: number, upTo: number): Promise<void> {
    let after = from
    // PostgreSQL cannot compare ids with numbers outside the range of the column type.
    const limit = upTo === MAX_ID ? {} : { where: `(Id,lte,${upTo})` }
    for await (const page of readPages({ after: from, ...limit, fields: STAMP_FIELDS })) {
      const end = page.isLast ? upTo : (page.rows.at(-1)?.Id ?? upTo)
      const remote = new Map(page.rows.map((row) => [row.Id, mirror.getStamp(row)]))
      const local = new Map(
        (await mirror.getStamps(after, end)).map(({ id, stamp }) => [id, stamp]),
      )
      const missing = [...local.keys()].filter((id) => !remote.has(id))
      await mirror.delete(missing, page.requestedAt)
      const changed = [...remote].filter(([id, stamp]) => local.get(id) !== stamp)
      for (let i = 0; i < changed.length; i += BATCH_SIZE) {
        const ids = changed.slice(i, i + BATCH_SIZE).map(([id]) => id)
        await save(await table.getRows(ids))
      }
      after = end
    }
  }

  /**
   * Uses bisection to find the ranges in which the number of rows differs, and compares their rows.
   */
  async function compareCounts(after: number, upTo: number, remote: number): Promise<void> {
    const local = await mirror.count(after, upTo)
    if (local === remote) return
    if (local <= pageSize) return compareRows(after, upTo)
    const middle = await mirror.getNthId(after, Math.floor(local / 2) - 1)
    if (middle === 0 || middle >= upTo) return
    const lower = await table.count(after, middle)
    await compareCounts(after, middle, lower)
    await compareCounts(middle, upTo, remote - lower)
  }

  return {
    /** Call this after a failed pass, because NocoDB may have been restored from a backup. */
    markUncertain(): void {
      isSettled = false
      mayBeRestored = true
    },

    /** Loads all rows; continues an interrupted load. */
    async load(): Promise<void> {
      const state = await mirror.getState()
      if (state.touched === undefined) {
        // Rows that change during the load are read by the next pass.
        await mirror.setState({ touched: String(await table.getLastModified()) })
      }
      let after = Number(state.loaded_to ?? 0)
      for await (const page of readPages({ after })) {
        after = page.rows.at(-1)?.Id ?? after
        await save(page, { loaded_to: String(after), ...(page.isLast ? { loaded: 'yes' } : {}) })
        const done = await mirror.count()
        await onProgress(done, done + page.remaining - page.rows.length)
      }
    },

    /** Reads the rows created or updated since the last pass. */
    async readChanges(): Promise<void> {
      const startedAt = performance.now()
      const last = Number((await mirror.getState()).touched ?? 0)
      // A timestamp from a clock that is ahead must not hide later changes.
      const since = Math.min(isSettled ? last + 1000 : last - overlapMs, Date.now() - overlapMs)
      let latest = 0
      for await (const page of readPages({ after: 0, where: table.modifiedSince(since) })) {
        await save(page)
        latest = Math.max(latest, ...page.rows.map(getModified))
      }
      if (latest > last) {
        await mirror.setState({ touched: String(latest) })
        lastChangeAt = performance.now()
        isSettled = false
      } else if (startedAt - lastChangeAt > overlapMs) isSettled = true
      // The last known change is gone: its row was deleted, or a backup was restored.
      if (mayBeRestored && latest < last) {
        const newest = await table.getLastModified()
        await compareRows(0, MAX_ID)
        await mirror.setState({ touched: String(newest) })
      }
      mayBeRestored = false
    },

    /** Counts rows to find rows that were deleted, or restored with old timestamps. */
    async reconcileDeletions(): Promise<void> {
      const before = await mirror.count()
      const lastId = await mirror.getLastId()
      const remote = await table.count()
      if (remote > before) {
        // Most additional rows are new and have higher ids.
        await readRows(lastId)
        if (remote <= (await mirror.count())) return
      } else if (remote === before) return
      await compareCounts(0, lastId, await table.count(0, lastId))
    },

    /**
     * Reads all rows again, because deleted and added columns change cells without changing the
     * stamp.
     */
    readAll: (): Promise<void> => readRows(0),

    /** Compares all rows with the mirror, to find changes that the other passes have missed. */
    compareAll: (): Promise<void> => compareRows(0, MAX_ID),
  }
}
