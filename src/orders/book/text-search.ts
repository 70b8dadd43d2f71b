/** The full-text index knows every three letters in a row; fewer it cannot look up. */
const SHORTEST_INDEXED = 3

/** Where the orders that have a text can be read from: a part of SQL and its value. */
export interface TextSource {
  /** Comes up with each order's id, as `matched.id` */
  from: string
  value: string
}

/** How to find the orders that have a text, folded already. */
export function textSource(text: string): TextSource {
  if (Array.from(text).length >= SHORTEST_INDEXED) {
    return {
      from: '(SELECT rowid AS id FROM search_index WHERE search_index MATCH ?) AS matched',
      value: `"${text.replaceAll('"', '""')}"`,
    }
  }
  return {
    from: '(SELECT id FROM search_texts WHERE text GLOB ?) AS matched',
    value: `*${text.replace(/[*?[]/g, '[$&]')}*`,
  }
}

/** Tells of one order at hand whether it has a text, without looking at any other. */
export const HAS_TEXT =
  'EXISTS (SELECT 1 FROM search_texts WHERE search_texts.id = orders.id AND instr(text, ?) > 0)'
