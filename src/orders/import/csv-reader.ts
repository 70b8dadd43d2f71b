/** A record of a CSV file. */
export interface CsvRecord {
  /** The line it begins on, counted from 1 */
  line: number
  cells: string[]
  /** How it is not as RFC 4180 has it; its cells mean nothing then */
  fault: string | null
}

/** Far beyond any cell of an order: most likely a closing quote is missing. */
const LONGEST_CELL = 1_000_000

const TEXT_AFTER_QUOTE = 'has text after a closing quote; a quote within a cell is written twice'
const BARE_QUOTE = 'has a quote in a cell that is not in quotes'
const UNCLOSED = 'has a quote that is never closed; nothing after it was read'
const ENDLESS = `has a quote that is never closed, or a cell of more than ${LONGEST_CELL} characters; nothing after it was read`

function countNewlines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}

/**
 * Reads records of RFC 4180, with LF or CRLF between them, from blocks of whole lines.
 *
 * Our own since faults must be told with their lines, all of them, in a file of any size:
 * fast-csv stops at the first, knows no lines, and reads the rest of a file again and again
 * after a quote that is not closed; csv-parse counts a CRLF within quotes as two lines.
 */
export function createCsvReader() {
  let line = 1
  let newlines = 0
  let cells: string[] = []
  let fault: string | null = null
  let quoted: string | null = null
  let stuck = false

  /** The record that is complete now. */
  function take(): CsvRecord {
    const record = { line, cells, fault }
    line += 1 + newlines
    newlines = 0
    cells = []
    fault = null
    return record
  }

  /** The record that no end was found of. */
  function unclosed(fault: string): CsvRecord {
    stuck = true
    return { line: line + newlines, cells: [], fault }
  }

  return {
    /** Where reading has come to an end before the file has. */
    isStuck: (): boolean => stuck,

    *read(text: string): Generator<CsvRecord> {
      let at = 0
      let lineEnd = -1
      /** Where the cell ends that is at hand: at a comma or a line break. */
      const cellEnd = (): number => {
        if (lineEnd < at) lineEnd = text.indexOf('\n', at)
        const comma = text.indexOf(',', at)
        return comma === -1 || comma > lineEnd ? lineEnd : comma
      }
      /** What lies between here and there; the CR of a CRLF belongs to the line break. */
      const upTo = (end: number): string =>
        text.slice(at, end === lineEnd && text[end - 1] === '\r' && end > at ? end - 1 : end)

      while (at < text.length) {
        if (quoted === null && text[at] === '"') {
          quoted = ''
          at++
        }
        if (quoted === null) {
          const end = cellEnd()
          const cell = upTo(end)
          if (cell.includes('"')) fault ??= BARE_QUOTE
          cells.push(cell)
          at = end
        } else {
          const quote = text.indexOf('"', at)
          quoted += text.slice(at, quote === -1 ? text.length : quote)
          if (quoted.length > LONGEST_CELL) {
            yield unclosed(ENDLESS)
            return
          }
          if (quote === -1) return
          at = quote + 1
          if (text[at] === '"') {
            quoted += '"'
            at++
            continue
          }
          const end = cellEnd()
          if (upTo(end) !== '') fault ??= TEXT_AFTER_QUOTE
          newlines += countNewlines(quoted)
          cells.push(quoted)
          quoted = null
          at = end
        }
        if (text[at] === '\n') yield take()
        at++
      }
    },

    /** Tells that the file ends here. */
    *end(): Generator<CsvRecord> {
      if (quoted !== null && !stuck) yield unclosed(UNCLOSED)
    },
  }
}
