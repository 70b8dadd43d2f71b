/** What no text may have, and how a person is told. */
const FORBIDDEN: readonly [RegExp, string][] = [
  [/(?![\t\n\r])\p{Cc}/u, 'must not have control characters'],
  // They could make a name read as another.
  [/[\u202a-\u202e\u2066-\u2069]/u, 'must not have characters that turn the direction of the text'],
  // Halves of a pair, and code points that stand for nothing.
  [/[\p{Cs}\p{Noncharacter_Code_Point}]/u, 'must not have broken characters'],
]

const BREAK = /[\t\n\r\u2028\u2029]/u

/**
 * Something to see by itself: no space, and no letter without a shape such as a joiner, a soft
 * hyphen, a filler or the blank Braille pattern. In a word, joiners have their use.
 */
const VISIBLE = /[^\s\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u

/** What is wrong with a text of any number of lines, in words for a person; `null` for nothing. */
export const findTextError = (text: string): string | null =>
  FORBIDDEN.find(([pattern]) => pattern.test(text))?.[1] ?? null

/** What is wrong with one line of text in any script, in words for a person; `null` for nothing. */
export function findTextLineError(text: string): string | null {
  if (BREAK.test(text)) return 'must be one line, without tabs'
  return findTextError(text) ?? (VISIBLE.test(text) ? null : 'must have something to read in it')
}
