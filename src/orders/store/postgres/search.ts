import type { Queryable, SqlValue } from '../../../database/database.js'
import { joinConditions, toWord, type SearchWord } from '../sql/search-words.js'
import type { SqlFragment } from '../sql/query-conditions.js'
import { toWordGrams } from './grams.js'
import type { RowCounts } from './row-counts.js'

/** Number of the newest orders that are used to estimate how many orders match a search. */
const SAMPLE_SIZE = 1_000
/** With fewer matches, the sample is not representative. */
const MIN_SAMPLE_MATCHES = 20

const containsWord = ({ text }: SearchWord): SqlFragment => ({
  sql: 'position(? IN order_search.text) > 0',
  values: [text],
})

/** A condition on a row of `order_search`: the order matches all words. */
export const hasWords = (texts: readonly string[]): SqlFragment =>
  joinConditions(
    texts.map((text) => {
      const word = toWord(text)
      if (word.exact === null) return containsWord(word)
      const { sql, values } = word.exact
      const exact = {
        sql: `order_search.order_id IN (SELECT id FROM orders WHERE ${sql})`,
        values,
      }
      return joinConditions([containsWord(word), exact], 'OR')
    }),
    'AND',
  )

/** Whether the newest orders suggest that a search has more than `max` matches. */
async function isCommon(tx: Queryable, condition: SqlFragment, max: number): Promise<boolean> {
  const [row] = await tx.query<{ count: number; orders: number }>(
    `SELECT count(*) AS count, (SELECT max(order_id) FROM order_search) AS orders FROM (
       SELECT * FROM order_search ORDER BY order_id DESC LIMIT ${SAMPLE_SIZE}
     ) AS order_search WHERE ${condition.sql}`,
    condition.values,
  )
  const { count, orders } = row ?? { count: 0, orders: 0 }
  return count >= MIN_SAMPLE_MATCHES && (count / SAMPLE_SIZE) * orders > max
}

/**
 * Reads the most common n-grams, each with the share of orders that contain it, as last counted by
 * ANALYZE. The shares affect the speed of a search, not its result.
 */
async function readCommonGrams(tx: Queryable): Promise<Map<string, number>> {
  const rows = await tx.query<{ gram: string; share: number }>(
    `SELECT gram, share
     FROM pg_stats, unnest(most_common_elems::text::text[], most_common_elem_freqs) AS common (gram, share)
     WHERE schemaname = current_schema() AND tablename = 'order_search' AND attname = 'grams'
       AND gram IS NOT NULL`,
  )
  return new Map(rows.map(({ gram, share }) => [gram, share]))
}

/**
 * Finds the IDs of all orders that match every word. Compares only the search texts that contain
 * the n-grams of the words. Returns `null` if there are more than `max` matches, or probably more.
 */
export async function probeSearch(
  tx: Queryable,
  texts: readonly string[],
  { max, cache }: { max: number; cache: RowCounts['cache'] },
): Promise<number[] | null> {
  const words = texts.map(toWord)
  const common = await cache('common grams', () => readCommonGrams(tx))
  const conditions: SqlFragment<SqlValue>[] = []
  for (const word of words) {
    const text = joinConditions<SqlValue>(
      [
        { sql: 'order_search.grams @> ?::text[]', values: [toWordGrams(word.text, common)] },
        containsWord(word),
      ],
      'AND',
    )
    if (word.exact === null) conditions.push(text)
    else {
      const rows = await tx.query<{ id: number }>(
        `SELECT id FROM orders WHERE ${word.exact.sql} LIMIT ?`,
        [...word.exact.values, max + 1],
      )
      if (rows.length > max) return null
      const ids = rows.map(({ id }) => id)
      const exact = { sql: 'order_search.order_id = ANY(?::bigint[])', values: [ids] }
      conditions.push(rows.length === 0 ? text : joinConditions<SqlValue>([text, exact], 'OR'))
    }
  }
  if (await isCommon(tx, hasWords(texts), max)) return null
  const { sql, values } = joinConditions(conditions, 'AND')
  // The planner cannot estimate how rare a combination of n-grams is, and would read all search
  // texts.
  await tx.query('SET LOCAL enable_seqscan = off')
  const rows = await tx.query<{ id: number }>(
    `WITH matches AS MATERIALIZED (
       SELECT order_id AS id FROM order_search WHERE ${sql} LIMIT ?
     ) SELECT id FROM matches`,
    [...values, max + 1],
  )
  await tx.query('SET LOCAL enable_seqscan = on')
  return rows.length > max ? null : rows.map(({ id }) => id)
}
