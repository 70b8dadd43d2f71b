/** The longest indexed parts: pairs of digits are in most order numbers, three digits in few. */
const MAX_LENGTH = 3

/** The parts of a text with a number of characters, without line breaks. */
function listParts(text: string, length: number): string[] {
  const characters = Array.from(text)
  return characters
    .slice(length - 1)
    .map((_, index) => characters.slice(index, index + length).join(''))
    .filter((part) => !part.includes('\n'))
}

/** A text is indexed by its parts of up to three characters, which also works without spaces. */
export const toGrams = (text: string): string[] => [
  ...new Set(Array.from({ length: MAX_LENGTH }, (_, index) => listParts(text, index + 1)).flat()),
]

/** The grams of every text that contains a word: the longest, which are the rarest. */
export const toWordGrams = (word: string): string[] => [
  ...new Set(listParts(word, Math.min(MAX_LENGTH, Array.from(word).length))),
]
