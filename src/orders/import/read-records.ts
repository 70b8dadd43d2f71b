import { createCsvReader, type CsvRecord } from './csv-reader.js'
import { findFileTypeError } from './detect-file-type.js'
import type { ImportError } from './import-errors.js'
import { MAX_LINE_BYTES, splitLineBlocks } from './line-blocks.js'

interface Callbacks {
  /** Called for encoding errors, for a line that is too long and for a file that is not CSV */
  onError: (error: ImportError) => void
  /** Called with the number of bytes read since the last call */
  onBytes: (bytes: number) => void
}

/** An optional byte order mark, blank lines, and the first line that is not blank. */
const PREAMBLE = /^\ufeff?(?:\r?\n)*([^\n]*)(\n?)/

function parseFirstLine(start: Buffer): { firstLine: string; isComplete: boolean } {
  const [, firstLine = '', lineBreak = ''] = PREAMBLE.exec(start.toString('utf8')) ?? []
  return { firstLine, isComplete: lineBreak !== '' }
}

/** Passes the file through. If the file is not CSV, reports an error and stops. */
async function* checkFileType(
  source: AsyncIterable<Buffer>,
  onError: (error: ImportError) => void,
): AsyncGenerator<Buffer> {
  function hasError(start: Buffer): boolean {
    const message = findFileTypeError(start, parseFirstLine(start).firstLine)
    if (message !== null) onError({ line: null, column: null, message })
    return message !== null
  }

  let start: Buffer | null = Buffer.alloc(0)
  for await (const chunk of source) {
    if (start === null) {
      yield chunk
      continue
    }
    start = Buffer.concat([start, chunk])
    if (!parseFirstLine(start).isComplete && start.length <= MAX_LINE_BYTES) continue
    if (hasError(start)) return
    yield start
    start = null
  }
  if (start !== null && !hasError(start)) yield start
}

const isBlank = ({ cells, error }: CsvRecord): boolean =>
  error === null && cells.length === 1 && cells[0] === ''

/** Reads the records of a file, skipping blank lines; reports an error if the file is empty. */
export async function* readRecords(
  source: AsyncIterable<Buffer>,
  { onError, onBytes }: Callbacks,
): AsyncGenerator<CsvRecord> {
  const csv = createCsvReader()
  for await (const { text, bytes } of splitLineBlocks(checkFileType(source, onError), onError)) {
    for (const record of csv.read(text)) if (!isBlank(record)) yield record
    onBytes(bytes)
    if (csv.isAborted()) return
  }
  yield* csv.end()
}
