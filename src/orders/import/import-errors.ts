/** What is wrong with a line of a file, or with all of it. */
export interface ImportError {
  /**
   * Counted from 1, as an editor does; of an order that spans lines, its first. `null` where it is
   * all of the file: then the message is a sentence.
   */
  line: number | null
  /** Column, or the part of its value that is meant; `null` where it is all of the line */
  column: string | null
  message: string
}

/** Keeps the first so many faults by their lines, and counts all. */
export function createImportErrors(most: number) {
  let kept: ImportError[] = []
  let total = 0

  const firstOnes = (): ImportError[] =>
    kept.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)).slice(0, most)

  return {
    add: (fault: ImportError): void => {
      total++
      kept.push(fault)
      if (kept.length >= 2 * most) kept = firstOnes()
    },
    /** Counts faults that come after those which are kept. */
    addUntold: (howMany: number): void => void (total += howMany),
    get total(): number {
      return total
    },
    first: firstOnes,
  }
}

export type ImportErrors = ReturnType<typeof createImportErrors>

const LONGEST_NAME = 60

/** What a terminal obeys or hides. */
const UNSHOWN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu

/** A name that a file has, as a message may repeat it: not too long, and all of it to be seen. */
function shown(name: string): string {
  const letters = Array.from(name.slice(0, 2 * LONGEST_NAME + 1))
  const clipped = letters.length > LONGEST_NAME ? [...letters.slice(0, LONGEST_NAME), '…'] : letters
  const text = clipped
    .join('')
    .replace(UNSHOWN, (letter) => `\\u{${letter.codePointAt(0)?.toString(16) ?? ''}}`)
  return text === text.trim() ? text : `"${text}"`
}

/** A fault as a person reads it. */
export function formatImportError({ line, column, message }: ImportError): string {
  if (line === null) return message
  return column === null ? `line ${line}: ${message}` : `line ${line}, ${shown(column)}: ${message}`
}
