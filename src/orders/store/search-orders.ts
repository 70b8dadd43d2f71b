import { setImmediate } from 'node:timers/promises'
import type { Queryable } from '../../database/database.js'
import type { OrderFilters } from '../order-filters.js'
import { join, toOrderBy, toValues, toWhere } from './conditions.js'
import { selectIds, type FoundOrders, type OrderFinder } from './find-orders.js'
import { chooseGrams } from './grams.js'
import { MAX_EXACT_TOTAL, type ListSlice } from './order-store.js'
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
const SAMPLE = 500

/** Rounded, because it is not exact. */
const estimate = (matches: number, compared: number, total: number): number =>
  Math.max(matches, Number(((matches / compared) * total).toPrecision(2)))

/** Finds orders by the words of a search. */
export class OrderSearch {
  /** @param limits set by tests only */
  constructor(
    readonly finder: OrderFinder,
    readonly limits = LIMITS,
  ) {}

  /**
   * Compares the first orders of the sorted list with the words, which is enough for common words. If
   * that does not fill the slice, the matches are rare: they are looked up in the search index. If
   * there are many nevertheless, or if the words are too short for the index, the other orders of the
   * list are compared, too.
   */
  async find(
    tx: Queryable,
    words: readonly SearchWord[],
    filters: OrderFilters,
    slice: ListSlice,
  ): Promise<FoundOrders> {
    const { exact, window } = this.limits
    const { total, isTotalExact } = await this.finder.count(tx, filters, exact)
    const isSmall = isTotalExact && total <= exact
    const size = isSmall ? exact : window
    const end = slice.offset + slice.limit
    const ids = await this.#compare(tx, words, filters, { ...slice, offset: 0, limit: size })
    if (isSmall) {
      return { ids: ids.slice(slice.offset, end), total: ids.length, isTotalExact: true }
    }
    if (ids.length >= end) {
      const about = estimate(ids.length, size, total)
      return { ids: ids.slice(slice.offset, end), total: about, isTotalExact: false }
    }
    return (
      (await this.#lookUp(tx, words, filters, slice)) ??
      this.#compareRest(tx, words, filters, slice, { ids, compared: size })
    )
  }

  /** Returns the matches among a part of the sorted list. */
  #compare(
    tx: Queryable,
    words: readonly SearchWord[],
    filters: OrderFilters,
    { sort, offset, limit }: ListSlice,
  ): Promise<number[]> {
    const { dialect } = this.finder
    const conditions = this.finder.toConditions(filters)
    const matches = matchesWords(dialect, words)
    const hasExact = words.some(({ exact }) => exact !== null)
    return selectIds(tx, {
      sql: `SELECT id FROM (
          SELECT orders.id, text ${hasExact ? ', order_number_key, amount_minor, currency' : ''}
          FROM ${this.finder.walkIndex(sort, filters)} JOIN ${dialect.texts} ON texts.id = orders.id
          ${toWhere(conditions)} ${toOrderBy(sort)} LIMIT ? OFFSET ?
        ) AS part WHERE ${matches.sql}`,
      values: [...toValues(conditions), limit, offset, ...matches.values],
    })
  }

  /** Looks up the matches in the search index; `null` if that is not possible, or finds too many. */
  async #lookUp(
    tx: Queryable,
    words: readonly SearchWord[],
    filters: OrderFilters,
    { sort, offset, limit }: ListSlice,
  ): Promise<FoundOrders | null> {
    const { dialect } = this.finder
    const max = this.limits.exact
    const byText = await this.#lookUpTexts(tx, words)
    if (byText === null) return null
    const found = new Set(byText)
    for (const { exact } of words) {
      if (exact === null || found.size > max) continue
      const { sql, values } = join([exact, matchesWords(dialect, words)], 'AND')
      const byValue = await selectIds(tx, {
        sql: `SELECT orders.id FROM orders JOIN ${dialect.texts} ON texts.id = orders.id
          WHERE ${sql} LIMIT ?`,
        values: [...values, max + 1],
      })
      for (const id of byValue) found.add(id)
    }
    if (found.size > max) return null
    const conditions = [
      dialect.isOneOf('orders.id', [...found]),
      ...this.finder.toConditions(filters),
    ]
    const ids = await selectIds(tx, {
      sql: `SELECT id FROM orders ${toWhere(conditions)} ${toOrderBy(sort)}`,
      values: toValues(conditions),
    })
    return { ids: ids.slice(offset, offset + limit), total: ids.length, isTotalExact: true }
  }

  /** IDs of the texts that contain all words; `null` if all words are too short for the index. */
  async #lookUpTexts(tx: Queryable, words: readonly SearchWord[]): Promise<number[] | null> {
    const { dialect } = this.finder
    const sample = await tx.query<{ text: string }>(
      `SELECT text FROM ${dialect.texts} ORDER BY id DESC LIMIT ${SAMPLE}`,
    )
    const grams = chooseGrams(
      words.map(({ text }) => text),
      dialect.minGramLength,
      sample.map(({ text }) => text),
    )
    if (grams.length === 0) return null
    const conditions = [
      dialect.hasGrams(grams),
      ...words.map(({ text }) => ({ sql: dialect.containsText, values: [text] })),
    ]
    return selectIds(tx, {
      sql: `SELECT id FROM ${dialect.texts} ${toWhere(conditions)} LIMIT ?`,
      values: [...toValues(conditions), this.limits.exact + 1],
    })
  }

  /** Compares the orders after those that were compared, until the slice is full. */
  async #compareRest(
    tx: Queryable,
    words: readonly SearchWord[],
    filters: OrderFilters,
    { sort, offset, limit }: ListSlice,
    { ids, compared }: { ids: number[]; compared: number },
  ): Promise<FoundOrders> {
    const { total } = await this.finder.count(tx, filters, Number.MAX_SAFE_INTEGER - 1)
    const { chunk } = this.limits
    const matches = [...ids]
    let next = compared
    while (next < total && matches.length < offset + limit) {
      await setImmediate()
      matches.push(
        ...(await this.#compare(tx, words, filters, { sort, offset: next, limit: chunk })),
      )
      next += chunk
    }
    const isComplete = next >= total
    return {
      ids: matches.slice(offset, offset + limit),
      total: isComplete ? matches.length : estimate(matches.length, next, total),
      isTotalExact: isComplete,
    }
  }
}
