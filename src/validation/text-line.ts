import { Type, type StringOptions } from '@sinclair/typebox'

// C0/C1 controls break lines and logs; the bidirectional overrides could make a name read as another.
const FORBIDDEN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u
const LONE_SURROGATE = /\p{Cs}/u
// Letters with no shape: joiners, soft hyphens, fillers, and the blank Braille pattern.
const INVISIBLE = /[\s\p{Default_Ignorable_Code_Point}\u2800]/gu

/** One line of text in any script: something visible, no control characters, well-formed Unicode. */
export function isTextLine(text: string): boolean {
  return text.replace(INVISIBLE, '') !== '' && !FORBIDDEN.test(text) && !LONE_SURROGATE.test(text)
}

/** A schema for such a line. */
export const textLine = (options: StringOptions) =>
  Type.String({
    minLength: 1,
    format: 'text-line',
    'x-message': 'must be one line with something to read in it, without control characters',
    ...options,
  })
