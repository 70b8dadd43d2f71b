import type { SqlFragment } from '../sql/query-conditions.js'
import { joinConditions, toWord, type SearchWord } from '../sql/search-words.js'

/** The full-text index consists of trigrams and cannot look up shorter strings. */
const TRIGRAM_LENGTH = 3

/** A source of rows with the `id` of an order and `is_match`, for a FROM clause. */
export interface IdSource {
  from: string
  values: (string | number)[]
}

/** A search for orders that match every word. */
export interface Search {
  /** All matching orders, each once */
  matches: IdSource
  /**
   * A few orders that include all matches. They are found by the longest number in the search;
   * `null` if the number would not help. Looking up every trigram is slow if some trigrams, such as
   * the trigrams of `@example.com`, are in most orders. Comparing a few orders is faster.
   */
  candidates: IdSource | null
  /** Whether a row of `orders` matches */
  condition: SqlFragment
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`

const hasTrigram = ({ text }: SearchWord): boolean => Array.from(text).length >= TRIGRAM_LENGTH

/** A condition on a row of `search_texts`. */
const contains = (words: SearchWord[]): SqlFragment =>
  joinConditions(
    words.map(({ text }) => ({ sql: 'instr(search_texts.text, ?) > 0', values: [text] })),
    'AND',
  )

/** A condition on a row of `orders`: its search text contains a word. */
const hasText = (word: SearchWord): SqlFragment => ({
  sql: `EXISTS (SELECT 1 FROM search_texts WHERE search_texts.id = orders.id AND instr(text, ?) > 0)`,
  values: [word.text],
})

const matchesWord = (word: SearchWord): SqlFragment =>
  word.exact === null ? hasText(word) : joinConditions([hasText(word), word.exact], 'OR')

/** Finds the orders whose search text contains all words. */
function findByText(words: SearchWord[]): SqlFragment {
  const indexed = words.filter(hasTrigram)
  const short = words.filter((word) => !hasTrigram(word))
  const query = indexed.map(({ text }) => quote(text)).join(' AND ')
  if (short.length === 0) {
    return {
      sql: 'SELECT rowid AS id, TRUE AS is_match FROM search_index WHERE search_index MATCH ?',
      values: [query],
    }
  }
  const condition = contains(short)
  if (indexed.length === 0) {
    return {
      sql: `SELECT id, TRUE AS is_match FROM search_texts WHERE ${condition.sql}`,
      values: condition.values,
    }
  }
  return {
    sql: `SELECT search_texts.id, TRUE AS is_match FROM search_index
      CROSS JOIN search_texts ON search_texts.id = search_index.rowid
      WHERE search_index MATCH ? AND ${condition.sql}`,
    values: [query, ...condition.values],
  }
}

/**
 * Finds orders that match the word at `index` only by its exact condition. They match earlier words
 * by text, and later words either way. Together with `findByText`, this finds each order once.
 */
function findExactly(words: SearchWord[], index: number): SqlFragment[] {
  const word = words[index]
  if (word === undefined || word.exact === null) return []
  const { sql, values } = joinConditions(
    [
      word.exact,
      { ...hasText(word), sql: `NOT ${hasText(word).sql}` },
      ...words.slice(0, index).map(hasText),
      ...words.slice(index + 1).map(matchesWord),
    ],
    'AND',
  )
  return [{ sql: `SELECT id, TRUE AS is_match FROM orders WHERE ${sql}`, values }]
}

/** Numbers with their adjacent characters. Few orders contain the same number. */
const NUMBERS = /.?\d{3,}.?/gsu

/** With fewer characters besides the number, the number is nearly the whole search. */
const MIN_OTHER_CHARACTERS = 2

/**
 * A full-text query for consecutive trigrams; it can also match text in which the trigrams are not
 * consecutive.
 */
function toTrigramQuery(characters: string[]): string {
  const last = characters.length - TRIGRAM_LENGTH
  const trigrams: string[] = []
  for (let at = 0; at < last; at += TRIGRAM_LENGTH) {
    trigrams.push(characters.slice(at, at + TRIGRAM_LENGTH).join(''))
  }
  return [...trigrams, characters.slice(last).join('')].map(quote).join(' AND ')
}

function findCandidates(words: SearchWord[]): SqlFragment | null {
  const texts = words.map(({ text }) => text)
  const numbers = texts.flatMap((text) => text.match(NUMBERS) ?? []).map((part) => Array.from(part))
  // If several numbers are equally long, takes the last, because a year usually precedes a sequence
  // number.
  const longest = numbers.reduce((a, b) => (b.length >= a.length ? b : a), [])
  const otherCharacters = Array.from(texts.join('')).length - longest.length
  if (longest.length === 0 || otherCharacters < MIN_OTHER_CHARACTERS) return null
  const condition = contains(words)
  return {
    sql: `SELECT search_texts.id, ${condition.sql} AS is_match FROM search_index
      CROSS JOIN search_texts ON search_texts.id = search_index.rowid
      WHERE search_index MATCH ?`,
    values: [...condition.values, toTrigramQuery(longest)],
  }
}

const toSource = (queries: SqlFragment[]): IdSource => ({
  from: `(${queries.map(({ sql }) => sql).join(' UNION ALL ')}) AS matched`,
  values: queries.flatMap(({ values }) => values),
})

/** Creates the queries that search for these words. */
export function createSearch(texts: string[]): Search {
  const words = texts.map(toWord)
  const exactly = words.flatMap((_word, index) => findExactly(words, index))
  const candidates = findCandidates(words)
  return {
    matches: toSource([findByText(words), ...exactly]),
    candidates: candidates && toSource([candidates, ...exactly]),
    condition: joinConditions(words.map(matchesWord), 'AND'),
  }
}
