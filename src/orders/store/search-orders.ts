import { setImmediate } from 'node:timers/promises'
import type { Queryable } from '../../database/database.js'
import type { OrderFilters } from '../order-filters.js'
import { getSortColumns, join, toOrderBy, toValues, toWhere } from './conditions.js'
import { selectIds, type FoundOrders, type OrderFinder } from './find-orders.js'
import { MAX_EXACT_TOTAL, type ListSlice } from './order-store.js'
import { chooseGrams } from './search-text.js'
import { matchesWords, type SearchWord } from './search-words.js'

const LIMITS = {
  /** Up to this number of orders or matches, all are compared or sorted */
  exact: MAX_EXACT_TOTAL,
  /** Number of orders at the start of a list that are compared with the words first */
  window: 2_000,
  /** Number of orders to compare at a time, so that SQLite does not block the event loop for long */
  chunk: 10_000,
}

/** Number of the newest texts that show which parts of words are common. */
const SAMPLE = 200

/** The columns of `SearchWord.exact`. */
const EXACT_COLUMNS = ['order_number_key', 'amount_minor', 'currency']

/** Rounded, because it is not exact. */
const estimate = (matches: number, compared: number, total: number): number =>
  Math.max(matches, Number(((matches / compared) * total).toPrecision(2)))

/**
 * Finds orders by the words of a search. Compares the first orders of the sorted list with the words,
 * which is enough for common words. If that does not fill the slice, the matches are rare: they are
 * looked up in the search index. If there are many nevertheless, or if the index has no part of the
 * words, the other orders of the list are compared, too.
 *
 * @param limits set by tests only
 */
export async function searchOrders(
  tx: Queryable,
  finder: OrderFinder,
  words: readonly SearchWord[],
  filters: OrderFilters,
  { sort, offset, limit }: ListSlice,
  { exact: maxExact, window, chunk } = LIMITS,
): Promise<FoundOrders> {
  const { dialect } = finder
  const conditions = finder.toConditions(filters)
  const matches = matchesWords(dialect, words)
  const end = offset + limit

  const toFound = (ids: number[], total: number, isTotalExact: boolean): FoundOrders => ({
    ids: ids.slice(offset, end),
    total,
    isTotalExact,
  })

  /** Returns the matches among a part of the sorted list. */
  function compare(first: number, count: number): Promise<number[]> {
    const hasExact = words.some(({ exact }) => exact !== null)
    const columns = new Set([...getSortColumns(sort), ...(hasExact ? EXACT_COLUMNS : [])])
    return selectIds(tx, {
      sql: `SELECT orders.id FROM (
          SELECT id, ${[...columns].join(', ')} FROM ${finder.walkIndex(sort, filters)}
          ${toWhere(conditions)} ${toOrderBy(sort)} LIMIT ? OFFSET ?
        ) AS orders JOIN ${dialect.texts} ON texts.id = orders.id
        WHERE ${matches.sql} ${toOrderBy(sort)}`,
      values: [...toValues(conditions), count, first, ...matches.values],
    })
  }

  /** IDs of the texts that contain all words; `null` if the index has no part of the words. */
  async function lookUpTexts(): Promise<number[] | null> {
    const sample = await tx.query<{ text: string }>(
      `SELECT text FROM ${dialect.texts} ORDER BY id DESC LIMIT ${SAMPLE}`,
    )
    const grams = chooseGrams(
      words.map(({ text }) => text),
      dialect.canLookUp,
      sample.map(({ text }) => text),
    )
    if (grams.length === 0) return null
    const containsAll = [
      dialect.hasGrams(grams),
      ...words.map(({ text }) => ({ sql: dialect.containsText, values: [text] })),
    ]
    return selectIds(tx, {
      sql: `SELECT id FROM ${dialect.texts} ${toWhere(containsAll)} LIMIT ?`,
      values: [...toValues(containsAll), maxExact + 1],
    })
  }

  /** Looks up the matches in the search index; `null` if that is not possible, or finds too many. */
  async function lookUp(): Promise<FoundOrders | null> {
    const byText = await lookUpTexts()
    if (byText === null) return null
    const found = new Set(byText)
    for (const { exact } of words) {
      if (exact === null || found.size > maxExact) continue
      const { sql, values } = join([exact, matches], 'AND')
      const byValue = await selectIds(tx, {
        sql: `SELECT orders.id FROM orders JOIN ${dialect.texts} ON texts.id = orders.id
          WHERE ${sql} LIMIT ?`,
        values: [...values, maxExact + 1],
      })
      for (const id of byValue) found.add(id)
    }
    if (found.size > maxExact) return null
    const isFound = [dialect.isOneOf('orders.id', [...found]), ...conditions]
    const ids = await selectIds(tx, {
      sql: `SELECT id FROM orders ${toWhere(isFound)} ${toOrderBy(sort)}`,
      values: toValues(isFound),
    })
    return toFound(ids, ids.length, true)
  }

  /** Compares the orders after those that were compared, until the slice is full. */
  async function compareRest(ids: number[], compared: number): Promise<FoundOrders> {
    const { total } = await finder.count(tx, filters, Number.MAX_SAFE_INTEGER - 1)
    let next = compared
    while (next < total && ids.length < end) {
      await setImmediate()
      ids.push(...(await compare(next, chunk)))
      next += chunk
    }
    const isComplete = next >= total
    return toFound(ids, isComplete ? ids.length : estimate(ids.length, next, total), isComplete)
  }

  const { total, isTotalExact } = await finder.count(tx, filters, maxExact)
  const isSmall = isTotalExact && total <= maxExact
  const size = isSmall ? maxExact : window
  const ids = await compare(0, size)
  if (isSmall) return toFound(ids, ids.length, true)
  // The number of orders to compare if the matches are as frequent in what follows, and some more
  const expected = Math.ceil((size * end * 1.5) / ids.length)
  // It is faster to look up fewer matches than that
  const isFrequent = !isTotalExact || (ids.length / size) * total >= expected
  let compared = size
  if (ids.length < end && expected <= chunk && isFrequent) {
    ids.push(...(await compare(size, expected - size)))
    compared = expected
  }
  if (ids.length >= end) return toFound(ids, estimate(ids.length, compared, total), false)
  return (await lookUp()) ?? compareRest(ids, compared)
}
