/** A cut goes back to the end of a word that lies in the last part of what is left. */
const LAST_PART = 0.3

/** A text of at most so many characters, cut at the end of a word and with an ellipsis where it was longer. */
export function truncateText(text: string, most: number): string {
  const characters = Array.from(text)
  if (characters.length <= most) return text
  const start = characters.slice(0, most - 1).join('')
  const end = start.lastIndexOf(' ')
  const kept = end > start.length * (1 - LAST_PART) ? start.slice(0, end) : start
  return `${kept.trimEnd()}…`
}
