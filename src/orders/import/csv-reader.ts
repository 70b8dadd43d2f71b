export interface CsvRecord {
  /** The line on which the record starts, from 1 */
  line: number
  cells: string[]
  /** How the record violates RFC 4180; do not use `cells` unless this is `null` */
  error: string | null
}

/** No valid cell is nearly this long. In a longer cell, a closing quote is probably missing. */
const MAX_CELL_LENGTH = 1_000_000

const TEXT_AFTER_QUOTE =
  'contains text after a closing quote; write a quote inside a cell as two quotes'
const UNQUOTED_QUOTE = 'contains a quote in an unquoted cell'
const UNCLOSED_QUOTE = 'contains an unclosed quote; the rest of the file was not read'
const CELL_TOO_LONG = `contains an unclosed quote or a cell longer than ${MAX_CELL_LENGTH} characters; the rest of the file was not read`

/**
 * Reads RFC 4180 records, separated by LF or CRLF, from blocks of complete lines.
 *
 * @param separator between cells, one character
 *
 * No library is used, because each error must be reported with its line number in files of any
 * size. fast-csv stops at the first error, has no line numbers and rescans the file after an
 * unclosed quote; csv-parse counts a CRLF inside quotes as two lines.
 */
export function createCsvReader(separator = ',') {
  let line = 1
  let newlines = 0
  let cells: string[] = []
  let error: string | null = null
  let quoted: string | null = null
  let isAborted = false

  function finishRecord(): CsvRecord {
    const record = { line, cells, error }
    line += 1 + newlines
    newlines = 0
    cells = []
    error = null
    return record
  }

  function abort(error: string): CsvRecord {
    isAborted = true
    return { line: line + newlines, cells: [], error }
  }

  return {
    /** Whether reading stopped before the end of the file. */
    isAborted: (): boolean => isAborted,

    *read(text: string): Generator<CsvRecord> {
      let position = 0
      let lineEnd = -1
      /** End of the current cell: the next separator or line break. */
      const findCellEnd = (): number => {
        if (lineEnd < position) lineEnd = text.indexOf('\n', position)
        const comma = text.indexOf(separator, position)
        return comma === -1 || comma > lineEnd ? lineEnd : comma
      }
      /** Text up to `end`, without the CR of a CRLF. */
      const sliceTo = (end: number): string =>
        text.slice(
          position,
          end === lineEnd && text[end - 1] === '\r' && end > position ? end - 1 : end,
        )

      while (position < text.length) {
        if (quoted === null && text[position] === '"') {
          quoted = ''
          position++
        }
        if (quoted === null) {
          const end = findCellEnd()
          const cell = sliceTo(end)
          if (cell.includes('"')) error ??= UNQUOTED_QUOTE
          cells.push(cell)
          position = end
        } else {
          const quote = text.indexOf('"', position)
          quoted += text.slice(position, quote === -1 ? text.length : quote)
          if (quoted.length > MAX_CELL_LENGTH) {
            yield abort(CELL_TOO_LONG)
            return
          }
          if (quote === -1) return
          position = quote + 1
          if (text[position] === '"') {
            quoted += '"'
            position++
            continue
          }
          const end = findCellEnd()
          if (sliceTo(end) !== '') error ??= TEXT_AFTER_QUOTE
          newlines += quoted.split('\n').length - 1
          cells.push(quoted)
          quoted = null
          position = end
        }
        if (text[position] === '\n') yield finishRecord()
        position++
      }
    },

    /** Call at the end of the file; yields an error if a quote is still open. */
    *end(): Generator<CsvRecord> {
      if (quoted !== null && !isAborted) yield abort(UNCLOSED_QUOTE)
    },
  }
}
