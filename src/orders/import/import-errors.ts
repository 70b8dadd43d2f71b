export interface ImportError {
  /**
   * Line number, starting at 1. If an order spans several lines, this is its first line. `null` for
   * the whole file.
   */
  line: number | null
  /** Column, or the path of a value in the column; `null` for the whole line */
  column: string | null
  message: string
}

/** Counts all errors, but keeps only the first `limit` by line number. */
export function createImportErrors(limit: number) {
  let kept: ImportError[] = []
  let total = 0

  const getFirst = (): ImportError[] =>
    kept.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)).slice(0, limit)

  return {
    add: (error: ImportError): void => {
      total++
      kept.push(error)
      if (kept.length >= 2 * limit) kept = getFirst()
    },
    /** Counts errors without keeping them. */
    addCount: (count: number): void => void (total += count),
    get total(): number {
      return total
    },
    getFirst,
  }
}

export type ImportErrors = ReturnType<typeof createImportErrors>

const MAX_NAME_LENGTH = 60

/** Characters that a terminal interprets or does not show. */
const UNPRINTABLE = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu

/** Shortens a column name from the file and escapes what a terminal would not show. */
function escapeName(name: string): string {
  const characters = Array.from(name.slice(0, 2 * MAX_NAME_LENGTH + 1))
  const shortened =
    characters.length > MAX_NAME_LENGTH
      ? [...characters.slice(0, MAX_NAME_LENGTH), '…']
      : characters
  const text = shortened
    .join('')
    .replace(UNPRINTABLE, (character) => `\\u{${character.codePointAt(0)?.toString(16) ?? ''}}`)
  return text === text.trim() ? text : `"${text}"`
}

/** Formats an error for the console: `line 12: customerEmail is required`. */
export function formatImportError({ line, column, message }: ImportError): string {
  if (line === null) return message
  return column === null
    ? `line ${line}: ${message}`
    : `line ${line}: ${escapeName(column)} ${message}`
}
