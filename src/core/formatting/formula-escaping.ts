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
