import { isImoNumber } from '../calculator/imo-number.js'

// C0/C1 controls break lines and logs; the bidirectional overrides could make a name read as another.
const FORBIDDEN = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u
const LONE_SURROGATE = /\p{Cs}/u
// Letters with no shape: joiners, soft hyphens, fillers, and the blank Braille pattern.
const INVISIBLE = /[\s\p{Default_Ignorable_Code_Point}\u2800]/gu

/** One line of text in any script: something visible, no control characters, well-formed Unicode. */
export function isTextLine(text: string): boolean {
  return text.replace(INVISIBLE, '') !== '' && !FORBIDDEN.test(text) && !LONE_SURROGATE.test(text)
}

/** The string formats that our schemas name, and what to tell a person whose text is not of the format. */
export const formats: Record<string, { test: (text: string) => boolean; message: string }> = {
  'text-line': {
    test: isTextLine,
    message: 'must be one line of readable text, without control characters',
  },
  'imo-number': {
    test: (text) => isImoNumber(text),
    message: 'is not an IMO number: seven digits, of which the last is a check digit',
  },
}
