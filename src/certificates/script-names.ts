/** Common names of scripts, with patterns that match their characters. */
const SCRIPTS: readonly [name: string, pattern: RegExp][] = [
  ['Arabic', /\p{Script=Arabic}/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Chinese', /\p{Script=Han}/u],
  ['Japanese', /[\p{Script=Hiragana}\p{Script=Katakana}]/u],
  ['Korean', /\p{Script=Hangul}/u],
  ['Thai', /\p{Script=Thai}/u],
  ['Devanagari', /\p{Script=Devanagari}/u],
  ['Bengali', /\p{Script=Bengali}/u],
  ['Tamil', /\p{Script=Tamil}/u],
  ['Georgian', /\p{Script=Georgian}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Ethiopic', /\p{Script=Ethiopic}/u],
  ['Khmer', /\p{Script=Khmer}/u],
  ['emoji', /\p{Extended_Pictographic}/u],
]

/**
 * Names the script of a character, such as `Arabic`; returns the code point, such as `U+1D400`, if
 * the script is not in the list.
 */
export const nameScript = (character: string): string =>
  SCRIPTS.find(([, pattern]) => pattern.test(character))?.[0] ??
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
