/** A text is indexed by its characters and pairs of characters, which also works without spaces. */
export function toGrams(text: string): string[] {
  const characters = Array.from(text)
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`)
  return [...new Set([...characters, ...pairs])].filter((gram) => !gram.includes('\n'))
}

/** The grams of every text that contains a word: pairs are rarer than characters. */
export function toWordGrams(word: string): string[] {
  const characters = Array.from(word)
  if (characters.length < 2) return characters
  return toGrams(word).filter((gram) => Array.from(gram).length === 2)
}
