const DIGIT = /\p{Nd}/u

/** The value of a decimal digit. In every script, the digits 0 to 9 follow each other. */
function toDigit(character: string): string {
  const code = character.codePointAt(0) ?? 0
  let digit = 0
  while (digit < 9 && DIGIT.test(String.fromCodePoint(code - digit - 1))) digit++
  return String(digit)
}

/**
 * Replaces the digits of all scripts (`١٢٣`, `१२३`, `１２３`) by those of ASCII, and the separators
 * and minus signs that are written with them by `.`, `,` and `-`.
 */
export const toAsciiNumerals = (text: string): string =>
  text
    .replace(/[^\P{Nd}0-9]/gu, toDigit)
    .replace(/[٫．]/g, '.')
    .replace(/[٬，]/g, ',')
    .replace(/[−－]/g, '-')

/**
 * The version of the texts and sort keys that databases store. A database with another version is
 * folded again when it is opened. Increase it with every change of `foldText`.
 */
export const FOLDING_VERSION = '2'

const INVISIBLE = /\p{Default_Ignorable_Code_Point}/gu

/**
 * Accents in Latin, Greek and Cyrillic text, and Arabic vowels, hamzas and lengthened strokes. In
 * other scripts, a mark forms a different letter.
 */
const MARKS = /[\u0300-\u036f\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/g

/** Lower-case letters that people type differently, and that Unicode does not decompose. */
const LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ł: 'l',
  ŧ: 't',
  þ: 'th',
  ς: 'σ',
  ٱ: 'ا',
  ة: 'ه',
  ى: 'ي',
  ی: 'ي',
  ک: 'ك',
}
const FOLDED_LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g')

/**
 * Normalises text for a search that ignores case, accents, width and typography. Converts to upper
 * case before lower case, which maps ß to ss. Keeps text that consists of accents only.
 */
export function foldText(text: string): string {
  const visible = toAsciiNumerals(text)
    .replace(/[‘’‛´`′ʹʻʼ]/g, "'")
    .replace(/[“”„]/g, '"')
    .replace(/\p{Pd}/gu, '-')
    .normalize('NFKD')
    .replace(INVISIBLE, '')
  const plain = (visible.replace(MARKS, '') || visible).normalize('NFC')
  return plain
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .replace(FOLDED_LETTER, (letter) => LETTERS[letter] ?? letter)
}
