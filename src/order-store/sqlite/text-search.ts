/** The full-text index knows every three letters in a row; fewer it cannot look up. */
const SHORTEST_INDEXED = 3

/** Where orders can be read from: a part of SQL and its values. */
export interface TextSource {
  /** Comes up with each order's id */
  from: string
  values: string[]
}

const inQuotes = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** How to find the orders that have a text, folded already, as `matched`. */
export function toTextSource(text: string): TextSource {
  if (Array.from(text).length < SHORTEST_INDEXED) {
    return {
      from: '(SELECT id FROM search_texts WHERE text GLOB ?) AS matched',
      values: [`*${text.replace(/[*?[]/g, '[$&]')}*`],
    }
  }
  return {
    from: '(SELECT rowid AS id FROM search_index WHERE search_index MATCH ?) AS matched',
    values: [inQuotes(text)],
  }
}

/** Numbers and what is beside them: few orders have the same. */
const NUMBERS = /.?\d{3,}.?/gsu

/** With fewer characters beside it than these, a number is nearly all of a text. */
const WORTH_A_PART = 2

/** Asks the index for consecutive threes of a text, which more have than have the text itself. */
function inThrees(characters: string[]): string {
  const last = characters.length - SHORTEST_INDEXED
  const threes: string[] = []
  for (let at = 0; at < last; at += SHORTEST_INDEXED) {
    threes.push(characters.slice(at, at + SHORTEST_INDEXED).join(''))
  }
  return [...threes, characters.slice(last).join('')].map(inQuotes).join(' AND ')
}

/**
 * How to find the orders that may have a text, by the longest number in it, each with whether it
 * does, as `has_text`; `null` where no part is worth it. The index looks up all threes of a text,
 * each of which may be in most orders, as those of `@example.com` are: looking at the few that have
 * its number is faster, if they are few.
 */
export function toCandidateSource(text: string): TextSource | null {
  const numbers = (text.match(NUMBERS) ?? []).map((part) => Array.from(part))
  // Of equals the last: a year stands before what is counted in it.
  const longest = numbers.reduce((a, b) => (b.length >= a.length ? b : a), [])
  if (longest.length === 0 || Array.from(text).length - longest.length < WORTH_A_PART) return null
  return {
    from: `(SELECT search_texts.id, instr(search_texts.text, ?) > 0 AS has_text FROM search_index
      CROSS JOIN search_texts ON search_texts.id = search_index.rowid
      WHERE search_index MATCH ?) AS candidate`,
    values: [text, inThrees(longest)],
  }
}

/** Tells of one order at hand whether it has a text, without looking at any other. */
export const HAS_TEXT =
  'EXISTS (SELECT 1 FROM search_texts WHERE search_texts.id = orders.id AND instr(text, ?) > 0)'
