/** A word that was cut is removed only if it starts in this last part of the text. */
const MAX_REMOVED_PART = 0.3

/** Truncates text to a number of characters, if possible after a word, and appends an ellipsis. */
export function truncateText(text: string, maxLength: number): string {
  const characters = Array.from(text)
  if (characters.length <= maxLength) return text
  const start = characters.slice(0, maxLength - 1).join('')
  const wordEnd = start.lastIndexOf(' ')
  const truncated =
    wordEnd > start.length * (1 - MAX_REMOVED_PART) ? start.slice(0, wordEnd) : start
  return `${truncated.trimEnd()}…`
}
