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

/** Looking up more parts would take longer than comparing the texts that have these. */
const MAX_LOOKED_UP = 4

/**
 * Returns the parts of words to look up in a search index: the rarest of their longest n-grams. Every
 * text that contains the words also contains these. Empty if all words are shorter than `minLength`.
 *
 * @param sample texts that show which n-grams are common
 */
export function chooseGrams(
  words: readonly string[],
  minLength: number,
  sample: readonly string[],
): string[] {
  const grams = new Set(
    words
      .map((word) => ({ word, length: Math.min(MAX_LENGTH, Array.from(word).length) }))
      .filter(({ length }) => length >= minLength)
      .flatMap(({ word, length }) => listParts(word, length)),
  )
  return (
    [...grams]
      .map((gram) => ({ gram, uses: sample.filter((text) => text.includes(gram)).length }))
      // The last ones of equal rarity, because names and numbers often start in the same way.
      .reverse()
      .sort((a, b) => a.uses - b.uses)
      .slice(0, MAX_LOOKED_UP)
      .map(({ gram }) => gram)
  )
}
