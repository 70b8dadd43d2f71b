/** The most that a cell holds, UTF-16 code units. */
const MOST_CHARACTERS = 32_767
const CUT = '…'

// XML 1.0 has no way to write these. Surrogates count only where they stand alone.
const ILLEGAL = /(?![\t\n])[\p{Cc}\p{Cs}\ufffe\uffff]/gu
/** How Excel writes a character by its code; a text that looks so is read as that character. */
const LOOKS_ESCAPED = /_(?=x[0-9a-f]{4}_)/gi

function cut(text: string): string {
  if (text.length <= MOST_CHARACTERS) return text
  const end = MOST_CHARACTERS - CUT.length
  const isPairSplit = /[\ud800-\udbff]/.test(text.charAt(end - 1))
  return text.slice(0, isPairSplit ? end - 1 : end) + CUT
}

/** A text as a cell can hold it: lines end with LF, what cannot be written is left out. */
export const toExcelText = (text: string): string =>
  cut(text.replace(/\r\n?/g, '\n').replace(ILLEGAL, '')).replace(LOOKS_ESCAPED, '_x005F_')
