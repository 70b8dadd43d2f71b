/** A word that was cut is removed only if it starts in this last part of the text. */
const MAX_REMOVED_PART = 0.3

/** Truncates text to a number of characters, if possible after a word, and appends an ellipsis. */
export function truncateText(text: string, maxLength: number): string {
  const characters = Array.from(text)
  if (characters.length <= maxLength) return text
  const start = characters.slice(0, maxLength - 1).join('')
  const wordEnd = start.lastIndexOf(' ')
  const truncated =
    wordEnd > start.length * (1 - MAX_REMOVED_PART) ? start.slice(0, wordEnd) : start
  return `${truncated.trimEnd()}…`
}

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

/**
 * Matches text that a spreadsheet may run as a formula: text that starts with a formula character
 * (ASCII or full-width). Spaces may precede the character, because some programs trim them. Text
 * that starts with a tab or a line break also matches, because some programs skip these characters.
 * Leading apostrophes are allowed, so that unescaping is unambiguous.
 */
const FORMULA = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/
const ESCAPED = new RegExp(FORMULA.source.replace("'*", "'+"))

/** Adds an apostrophe before text that a spreadsheet may run as a formula. */
export const escapeFormula = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)

/** Reverses escapeFormula. */
export const unescapeFormula = (text: string): string => (ESCAPED.test(text) ? text.slice(1) : text)
