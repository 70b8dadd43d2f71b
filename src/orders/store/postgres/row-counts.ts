import type { Queryable, SqlValue } from '../../../database/database.js'

interface RowCount {
  key: SqlValue
  count: number
}

/**
 * Counts above MAX_EXACT_COUNT are cached for this long, in ms, because counting takes a long time.
 */
const TTL_MS = 30_000
const MAX_CACHED = 100

/** Counts up to this number are not cached. */
export const MAX_EXACT_COUNT = 5_000

/** Caches the results of slow counts. */
export function createRowCounts() {
  const known = new Map<string, { value: unknown; expires: number }>()

  const find = (name: string) => {
    const cached = known.get(name)
    return cached !== undefined && cached.expires > performance.now() ? cached : null
  }

  /** Returns a cached result that is at most 30 s old, or reads a new one. */
  async function cache<T>(name: string, read: () => Promise<T>): Promise<T> {
    const cached = find(name)
    if (cached !== null) return cached.value as T
    if (known.size >= MAX_CACHED) known.clear()
    const value = await read()
    known.set(name, { value, expires: performance.now() + TTL_MS })
    return value
  }

  return {
    cache,
    isCached: (name: string): boolean => find(name) !== null,
    /**
     * Counts the rows of a query by its column `key`; omits keys without rows. Counts are exact up
     * to 5,000 rows; larger counts may be up to 30 s old.
     */
    async countByKey(
      tx: Queryable,
      sql: string,
      values: readonly SqlValue[] = [],
    ): Promise<RowCount[]> {
      const count = (rows: string) =>
        tx.query<RowCount>(
          `SELECT key, count(*) AS count FROM (${rows}) AS counted GROUP BY key`,
          values,
        )
      const name = JSON.stringify([sql, values])
      if (find(name) === null) {
        const first = await count(`${sql} LIMIT ${MAX_EXACT_COUNT + 1}`)
        if (first.reduce((sum, row) => sum + row.count, 0) <= MAX_EXACT_COUNT) return first
      }
      return cache(name, () => count(sql))
    },
  }
}

export type RowCounts = ReturnType<typeof createRowCounts>
