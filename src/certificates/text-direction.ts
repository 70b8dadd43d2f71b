import createBidi from 'bidi-js'

export type Direction = 'ltr' | 'rtl'

/** A run of text in one direction, in logical order; brackets are mirrored where necessary. */
interface DirectionRun {
  text: string
  direction: Direction
}

const bidi = createBidi()

/** The direction of the whole text, given by its first letter. */
export const getDirection = (text: string): Direction =>
  bidi.getEmbeddingLevels(text).paragraphs[0]?.level === 1 ? 'rtl' : 'ltr'

const mirror = (text: string): string =>
  Array.from(text, (character) => bidi.getMirroredCharacter(character) ?? character).join('')

/**
 * Splits a line into runs of one direction, in visual order from left to right.
 * See the Unicode Bidirectional Algorithm, rule L2: https://www.unicode.org/reports/tr9/#L2.
 *
 * @param direction of the paragraph
 */
export function splitDirections(line: string, direction: Direction): DirectionRun[] {
  const { levels } = bidi.getEmbeddingLevels(line, direction)
  const runs: { text: string; level: number }[] = []
  for (let i = 0; i < line.length; i++) {
    const level = levels[i] ?? 0
    const last = runs.at(-1)
    if (last?.level === level) last.text += line.charAt(i)
    else runs.push({ text: line.charAt(i), level })
  }
  for (let level = Math.max(0, ...runs.map((run) => run.level)); level > 0; level--) {
    for (let start = 0; start < runs.length; start++) {
      let end = start
      while ((runs[end]?.level ?? 0) >= level) end++
      runs.splice(start, end - start, ...runs.slice(start, end).reverse())
      start = end
    }
  }
  return runs.map(({ text, level }) =>
    level % 2 === 1 ? { text: mirror(text), direction: 'rtl' } : { text, direction: 'ltr' },
  )
}
