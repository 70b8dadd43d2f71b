import { Type, type StringOptions } from '@sinclair/typebox'

/** Characters that no text may contain, with the error message. */
const FORBIDDEN: readonly [RegExp, string][] = [
  [/(?![\t\n\r])\p{Cc}/u, 'must not contain control characters'],
  // These could make a name look like another name.
  [/[\u202a-\u202e\u2066-\u2069]/u, 'must not contain characters that change the text direction'],
  // Lone surrogates and noncharacters.
  [/[\p{Cs}\p{Noncharacter_Code_Point}]/u, 'must not contain invalid characters'],
]

const BREAK = /[\t\n\r\u2028\u2029]/u

/** Excludes spaces, joiners, soft hyphens, fillers and the blank Braille pattern. */
const VISIBLE = /[^\s\p{Cf}\p{M}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Finds the first error in multi-line text; `null` if it is valid. */
export const findTextError = (text: string): string | null =>
  FORBIDDEN.find(([pattern]) => pattern.test(text))?.[1] ?? null

/** Finds the first error in a single line of text; `null` if it is valid. */
export function findTextLineError(text: string): string | null {
  if (BREAK.test(text)) return 'must be a single line without tabs'
  return findTextError(text) ?? (VISIBLE.test(text) ? null : 'must contain a visible character')
}

/** Whether a string is one line with at least one visible character, in any script. */
export const isTextLine = (text: string): boolean => findTextLineError(text) === null

/** Schema for a single line of text. */
export const textLine = (options: StringOptions) =>
  Type.String({ minLength: 1, format: 'text-line', 'x-remove-invisible': true, ...options })
