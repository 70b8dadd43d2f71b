/**
 * Matches text that a spreadsheet may run as a formula. The text starts with a formula character
 * (ASCII or full-width), possibly after spaces, because some programs trim them; or it starts with
 * a tab or line break, because some programs skip them. Leading apostrophes are allowed, so that
 * unescaping is unambiguous.
 */
const FORMULA = /^'*(?:\s*[=+\-@＝＋－＠]|[\t\r\n])/
const ESCAPED = new RegExp(FORMULA.source.replace("'*", "'+"))

/** Prefixes text that a spreadsheet may run as a formula with an apostrophe. */
export const escapeFormula = (text: string): string => (FORMULA.test(text) ? `'${text}` : text)

/** Reverses escapeFormula. */
export const unescapeFormula = (text: string): string => (ESCAPED.test(text) ? text.slice(1) : text)
