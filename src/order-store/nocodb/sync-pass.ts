import type { ColumnField } from './columns.js'
import { parseTimestamp } from './cell-codec.js'
import { NocoDbError } from './nocodb-error.js'
import type { OrdersTable, Page } from './orders-table.js'
import type { Replica, RowError } from './replica.js'
import type { Row } from './parse-row.js'

const MOST_ROWS = 1_000
const FEWEST_ROWS = 50

/**
 * Writes of one second may become visible some time after those of the next one; and clocks of
 * several NocoDB servers differ. What was touched so long before the last change known is asked
 * for again, until nothing has changed for as long.
 */
const OVERLAP_MS = 15_000

/** What tells whether a row has been edited without reading all of it. */
const STAMP_FIELDS: ColumnField[] = ['version', 'writeToken']

interface Options {
  table: OrdersTable
  replica: Replica
  onFaults: (faults: RowError[]) => void
  onProgress: (done: number, total: number) => void
  overlapMs?: number
}

const touchOf = (row: Row): number =>
  Math.max(
    ...[row.CreatedAt, row.UpdatedAt].map((cell) =>
      Date.parse(parseTimestamp(cell) ?? '1970-01-01'),
    ),
  )

/** The ways in which a copy comes to hold what NocoDB holds. All throw NocoDbError. */
export function createSyncPasses({
  table,
  replica,
  onFaults,
  onProgress,
  overlapMs = OVERLAP_MS,
}: Options) {
  let pageSize = MOST_ROWS
  let touchedSeenAt = performance.now()
  /** Whether what was touched at about the time of the last change known has been asked for since. */
  let isSettled = false
  /** Whether NocoDB may have been set back to an earlier state since it was last asked. */
  let isInDoubt = true

  /** A page; of fewer rows where so many are too much for an answer. */
  async function page(request: Omit<Parameters<OrdersTable['page']>[0], 'limit'>): Promise<Page> {
    for (;;) {
      try {
        return await table.page({ ...request, limit: pageSize })
      } catch (error) {
        const isTooMuch =
          error instanceof NocoDbError && ['too large', 'no answer'].includes(error.trouble)
        if (!isTooMuch || pageSize <= FEWEST_ROWS) throw error
        pageSize = Math.max(FEWEST_ROWS, Math.floor(pageSize / 2))
      }
    }
  }

  const touched = (): number => Number(replica.setting('touched') ?? 0)

  /** Clocks are set right now and then: a last change that is still to come hides none of today. */
  const since = (last: number): number =>
    Math.min(isSettled ? last + 1000 : last - overlapMs, Date.now() - overlapMs)

  return {
    /** NocoDB was away: it may come back as it was some time ago, restored from a back-up. */
    doubt(): void {
      isSettled = false
      isInDoubt = true
    },

    /** Takes in all rows, from where it was interrupted before. */
    async load(): Promise<void> {
      if (replica.setting('touched') === null) {
        // What changes from now on, behind the pages read already, is asked for afterwards.
        replica.set('touched', String(await table.lastTouch()))
      }
      let after = Number(replica.setting('loaded_to') ?? 0)
      for (;;) {
        const found = await page({ after })
        after = found.rows.at(-1)?.Id ?? after
        const settings = { loaded_to: String(after), ...(found.isLast ? { loaded: 'yes' } : {}) }
        onFaults(replica.takeIn(found, settings))
        const done = replica.count()
        onProgress(done, done + found.remaining - found.rows.length)
        if (found.isLast) return
      }
    },

    /** Takes in what was entered or changed since the last time. */
    async changes(): Promise<void> {
      const last = touched()
      const begun = performance.now()
      const where = table.touchedSince(since(last))
      let latest = 0
      for (let after = 0; ;) {
        const found = await page({ after, where })
        onFaults(replica.takeIn(found))
        for (const row of found.rows) latest = Math.max(latest, touchOf(row))
        if (found.isLast) break
        after = found.rows.at(-1)?.Id ?? after
      }
      if (latest > last) {
        replica.set('touched', String(latest))
        touchedSeenAt = performance.now()
        isSettled = false
      } else if (begun - touchedSeenAt > overlapMs) isSettled = true
      // The last change known is gone: with its row, or with all that came after a back-up.
      if (isInDoubt && latest < last) {
        const newest = await table.lastTouch()
        await compare(0, Number.MAX_SAFE_INTEGER)
        replica.set('touched', String(newest))
      }
      isInDoubt = false
    },

    /**
     * Finds rows that were deleted in NocoDB, and such as it has again with the times they had, by
     * their number; tells how many were gone.
     */
    async evenOut(): Promise<number> {
      const before = replica.count()
      const last = replica.lastId()
      const there = await table.count()
      if (there > replica.count()) {
        // Most often these have just been entered, and lie behind all others.
        await takeInBehind(last)
        if (there <= replica.count()) return 0
      } else if (there >= before) return 0
      return unequal(0, last, await table.count(0, last))
    },

    /** Reads all rows anew: columns that come and go change cells without a trace. */
    readAll: (): Promise<void> => takeInBehind(0),

    /** Compares all rows with the copy, in case that anything was missed. */
    compareAll: (): Promise<number> => compare(0, Number.MAX_SAFE_INTEGER),
  }

  async function takeInBehind(id: number): Promise<void> {
    for (let after = id; ;) {
      const found = await page({ after })
      onFaults(replica.takeIn(found))
      if (found.isLast) return
      after = found.rows.at(-1)?.Id ?? after
    }
  }

  /** Compares where numbers differ, by counting ever smaller parts of the ids. */
  async function unequal(after: number, upTo: number, there: number): Promise<number> {
    const here = replica.count(after, upTo)
    if (here === there) return 0
    if (here <= pageSize) return compare(after, upTo)
    const middle = replica.idAfter(after, Math.floor(here / 2) - 1)
    if (middle === null || middle >= upTo) return 0
    const below = await table.count(after, middle)
    const removed = await unequal(after, middle, below)
    return removed + (await unequal(middle, upTo, there - below))
  }

  /** Compares rows by their stamps; tells how many were gone. */
  async function compare(from: number, upTo: number): Promise<number> {
    let removed = 0
    for (let after = from; after < upTo;) {
      const isOpen = upTo === Number.MAX_SAFE_INTEGER
      const found = await page({
        after,
        // Ids of some databases are smaller numbers, which they compare with such only.
        ...(isOpen ? {} : { where: `(Id,lte,${upTo})` }),
        fields: STAMP_FIELDS,
      })
      const end = found.isLast ? upTo : (found.rows.at(-1)?.Id ?? upTo)
      const there = new Map(found.rows.map((row) => [row.Id, replica.stampOf(row)]))
      const here = new Map(replica.stamps(after, end).map(({ id, stamp }) => [id, stamp]))
      const gone = [...here.keys()].filter((id) => !there.has(id))
      removed += replica.takeOut(gone, found.askedAt)
      const changed = [...there].filter(([id, stamp]) => here.get(id) !== stamp)
      for (let i = 0; i < changed.length; i += 100) {
        const ids = changed.slice(i, i + 100).map(([id]) => id)
        onFaults(replica.takeIn(await table.rows(ids)))
      }
      after = end
    }
    return removed
  }
}
