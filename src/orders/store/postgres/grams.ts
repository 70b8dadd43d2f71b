/**
 * Length of the longest indexed n-grams. In order numbers, a pair of digits is common, but a group
 * of three is rare.
 */
const MAX_LENGTH = 3

/** All substrings of a given length that contain no line break. */
function listParts(text: string, length: number): string[] {
  const characters = Array.from(text)
  return characters
    .slice(length - 1)
    .map((_, index) => characters.slice(index, index + length).join(''))
    .filter((part) => !part.includes('\n'))
}

/**
 * Returns the n-grams of up to three characters by which a search text is indexed. This also works
 * for scripts without spaces.
 */
export const toGrams = (text: string): string[] => [
  ...new Set(Array.from({ length: MAX_LENGTH }, (_, index) => listParts(text, index + 1)).flat()),
]

/**
 * Maximum number of n-grams to look up if any of them is rare. Looking up more would take longer
 * than comparing the search texts.
 */
const MAX_WORD_GRAMS = 4

/**
 * Returns the n-grams to look up for a word: its longest n-grams, or only the rarest of these if
 * any is rare. Every search text that contains the word also contains these n-grams.
 *
 * @param common the most common n-grams, each with the share of search texts that contain it; empty
 *   if unknown
 */
export function toWordGrams(word: string, common: ReadonlyMap<string, number>): string[] {
  const grams = [...new Set(listParts(word, Math.min(MAX_LENGTH, Array.from(word).length)))]
  const hasRare = common.size > 0 && grams.some((gram) => !common.has(gram))
  // A combination of common n-grams can be rare, so all of them are looked up.
  if (!hasRare) return grams
  const shareOf = (gram: string) => common.get(gram) ?? 0
  return grams.sort((a, b) => shareOf(a) - shareOf(b)).slice(0, MAX_WORD_GRAMS)
}
