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
