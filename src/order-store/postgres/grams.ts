/**
 * Length of the longest indexed parts. In order numbers, a pair of digits is common, but a group of
 * three is rare.
 */
const MAX_LENGTH = 3

/** The parts of a text that have a given number of characters and contain no line break. */
function listParts(text: string, length: number): string[] {
  const characters = Array.from(text)
  return characters
    .slice(length - 1)
    .map((_, index) => characters.slice(index, index + length).join(''))
    .filter((part) => !part.includes('\n'))
}

/**
 * Returns the parts of up to three characters by which a text is indexed. This also works for
 * scripts without spaces.
 */
export const toGrams = (text: string): string[] => [
  ...new Set(Array.from({ length: MAX_LENGTH }, (_, index) => listParts(text, index + 1)).flat()),
]

/**
 * Maximum number of grams to look up if one is rare. Looking up more would take longer than
 * comparing the texts.
 */
const MAX_WORD_GRAMS = 4

/**
 * Returns the grams to look up for a word: its longest grams, or only the rarest of these if any is
 * rare. Every text that contains the word contains them too.
 *
 * @param common the most common grams with their share of the texts; empty if unknown
 */
export function toWordGrams(word: string, common: ReadonlyMap<string, number>): string[] {
  const grams = [...new Set(listParts(word, Math.min(MAX_LENGTH, Array.from(word).length)))]
  const hasRare = common.size > 0 && grams.some((gram) => !common.has(gram))
  // A combination of common grams can be rare.
  if (!hasRare) return grams
  const shareOf = (gram: string) => common.get(gram) ?? 0
  return grams.sort((a, b) => shareOf(a) - shareOf(b)).slice(0, MAX_WORD_GRAMS)
}
