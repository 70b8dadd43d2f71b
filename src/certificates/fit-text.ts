import {
  getDirection,
  splitGraphemes,
  type CertificateFonts,
  type TextRun,
} from './certificate-fonts.js'

export interface TextBox {
  weight: 'regular' | 'bold'
  /** Points */
  width: number
  maxLines: number
  /** Sizes to try, in points, largest first */
  sizes: readonly [number, ...number[]]
}

interface FittedText {
  /** Points */
  size: number
  lines: { runs: TextRun[]; width: number }[]
}

/** Splits text after spaces and CJK characters, where a line may end. */
const splitWords = (text: string): string[] =>
  text.match(
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]\s*|[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+\s*/gu,
  ) ?? []

/** Fonts stack accents, so more than two would cover the text above. */
const STACKED_ACCENTS = /((?:(?=\p{M})\p{Script=Inherited}){2})(?:(?=\p{M})\p{Script=Inherited})+/gu

/**
 * Breaks text into lines, at the largest size at which it fits. If the text does not fit at any
 * size, uses the smallest size and cuts off the last line with an ellipsis.
 */
export function fitText(fonts: CertificateFonts, text: string, box: TextBox): FittedText {
  const { weight, width: maxWidth, maxLines, sizes } = box
  const direction = getDirection(text)
  // Shaping is slow, and its result is the same at every size.
  const shaped = new Map<string, FittedText['lines'][number]>()
  const shape = (text: string) => {
    const known = shaped.get(text)
    if (known !== undefined) return known
    const runs = fonts.split(text, weight, direction)
    const line = { runs, width: runs.reduce((sum, run) => sum + fonts.measure(run), 0) }
    shaped.set(text, line)
    return line
  }
  const toLine = (text: string, size: number) => {
    const { runs, width } = shape(text.trim())
    return { runs, width: width * size }
  }
  const fits = (line: string, size: number): boolean => toLine(line, size).width <= maxWidth

  /** @param parts pieces of text that are not broken */
  function breakLines(parts: readonly string[], size: number): string[] {
    const lines: string[] = []
    let line = ''
    for (const part of parts) {
      if (line !== '' && !fits(line + part, size)) {
        lines.push(line)
        line = ''
      }
      line += part
    }
    return line === '' ? lines : [...lines, line]
  }

  const words = splitWords(text.normalize('NFC').replace(STACKED_ACCENTS, '$1'))
  for (const size of sizes) {
    if (!words.every((word) => fits(word, size))) continue
    const lines = breakLines(words, size)
    if (lines.length <= maxLines) return { size, lines: lines.map((line) => toLine(line, size)) }
  }
  const size = sizes.at(-1) ?? sizes[0]
  const parts = words.flatMap((word) => (fits(word, size) ? [word] : splitGraphemes(word)))
  const lines = breakLines(parts, size)
  if (lines.length > maxLines) {
    const last = splitGraphemes(lines.slice(maxLines - 1).join(''))
    while (last.length > 0 && !fits(`${last.join('').trimEnd()}…`, size)) last.pop()
    lines.splice(maxLines - 1, Infinity, `${last.join('').trimEnd()}…`)
  }
  return { size, lines: lines.map((line) => toLine(line, size)) }
}
