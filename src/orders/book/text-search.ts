/** The full-text index knows every three letters in a row; fewer it cannot look up. */
const SHORTEST_INDEXED = 3

/** Where the orders that have a text can be read from: a part of SQL and its values. */
export interface TextSource {
  /** Comes up with each order's id, as `matched.id` */
  from: string
  values: string[]
}

/** Three or more digits and what is beside them: few orders have the same. */
const RARE = /.?\d{3,}.?/su

/**
 * The index looks up the letters of a text in threes, each of which may be in most orders, as
 * those of `@example.com` are: then a part that few have is looked up, and they are looked at.
 */
const WORTH_A_PART = 2

const inQuotes = (text: string): string => `"${text.replaceAll('"', '""')}"`

/** Asks the index for a text's threes side by side, wherever they are: fewer than all there are. */
function inThrees(text: string): string {
  const characters = Array.from(text)
  const last = characters.length - SHORTEST_INDEXED
  const threes: string[] = []
  for (let at = 0; at < last; at += SHORTEST_INDEXED) {
    threes.push(characters.slice(at, at + SHORTEST_INDEXED).join(''))
  }
  return [...threes, characters.slice(last).join('')].map(inQuotes).join(' AND ')
}

/** How to find the orders that have a text, folded already. */
export function textSource(text: string): TextSource {
  const characters = Array.from(text)
  if (characters.length < SHORTEST_INDEXED) {
    return {
      from: '(SELECT id FROM search_texts WHERE text GLOB ?) AS matched',
      values: [`*${text.replace(/[*?[]/g, '[$&]')}*`],
    }
  }
  const [part] = RARE.exec(text) ?? []
  if (part !== undefined && characters.length - Array.from(part).length >= WORTH_A_PART) {
    return {
      from: `(SELECT search_texts.id FROM search_index
        CROSS JOIN search_texts ON search_texts.id = search_index.rowid
        WHERE search_index MATCH ? AND instr(search_texts.text, ?) > 0) AS matched`,
      values: [inThrees(part), text],
    }
  }
  return {
    from: '(SELECT rowid AS id FROM search_index WHERE search_index MATCH ?) AS matched',
    values: [inQuotes(text)],
  }
}

/** Tells of one order at hand whether it has a text, without looking at any other. */
export const HAS_TEXT =
  'EXISTS (SELECT 1 FROM search_texts WHERE search_texts.id = orders.id AND instr(text, ?) > 0)'
