/**
 * What a spreadsheet may take for a formula: the characters that begin one, in their full width
 * too, behind spaces that some programs trim; and tab and line break, which some skip. Excel and
 * LibreOffice leave a text alone that begins with a space, programs that convert files do not.
 * Apostrophes in front count too, so that one more can always be told from those that were there.
 */
const FORMULA = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/
const PROTECTED = new RegExp(FORMULA.source.replace("'*", "'+"))

/** A text that no spreadsheet runs as a formula: with an apostrophe in front where it could. */
export const escapeFormula = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)

/** The text that was protected. */
export const unescapeFormula = (text: string): string =>
  PROTECTED.test(text) ? text.slice(1) : text
