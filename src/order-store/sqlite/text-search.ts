/** The full-text index consists of trigrams and cannot look up shorter texts. */
const TRIGRAM_LENGTH = 3

/** A source of rows with the `id` of an order, for a FROM clause. */
export interface TextSource {
  from: string
  values: string[]
}

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** Finds the orders that contain a search term. */
export function toTextSource(term: string): TextSource {
  if (Array.from(term).length < TRIGRAM_LENGTH) {
    return {
      from: '(SELECT id FROM search_texts WHERE text GLOB ?) AS matched',
      values: [`*${term.replace(/[*?[]/g, '[$&]')}*`],
    }
  }
  return {
    from: '(SELECT rowid AS id FROM search_index WHERE search_index MATCH ?) AS matched',
    values: [quote(term)],
  }
}

/** Numbers with an adjacent character on either side: few orders share them. */
const NUMBERS = /.?\d{3,}.?/gsu

/** If fewer other characters remain, the number is nearly the whole term. */
const MIN_OTHER_CHARACTERS = 2

/** A full-text query for consecutive trigrams of a text; it can also match other texts. */
function toTrigramQuery(characters: string[]): string {
  const last = characters.length - TRIGRAM_LENGTH
  const trigrams: string[] = []
  for (let at = 0; at < last; at += TRIGRAM_LENGTH) {
    trigrams.push(characters.slice(at, at + TRIGRAM_LENGTH).join(''))
  }
  return [...trigrams, characters.slice(last).join('')].map(quote).join(' AND ')
}

/**
 * Finds orders that may contain a search term by the longest number in it, with `has_text` telling
 * whether they do; `null` if that would not help. The full-text index looks up every trigram, and
 * those of `@example.com` may be in most orders: comparing the few orders with the number is faster.
 */
export function toCandidateSource(term: string): TextSource | null {
  const numbers = (term.match(NUMBERS) ?? []).map((part) => Array.from(part))
  // Of equally long numbers the last: a year precedes a sequence number.
  const longest = numbers.reduce((a, b) => (b.length >= a.length ? b : a), [])
  const otherCharacters = Array.from(term).length - longest.length
  if (longest.length === 0 || otherCharacters < MIN_OTHER_CHARACTERS) return null
  return {
    from: `(SELECT search_texts.id, instr(search_texts.text, ?) > 0 AS has_text FROM search_index
      CROSS JOIN search_texts ON search_texts.id = search_index.rowid
      WHERE search_index MATCH ?) AS candidate`,
    values: [term, toTrigramQuery(longest)],
  }
}

/** A condition on a row of `orders`: its search text contains the parameter. */
export const HAS_TEXT =
  'EXISTS (SELECT 1 FROM search_texts WHERE search_texts.id = orders.id AND instr(text, ?) > 0)'
