import { createCsvReader, type CsvRecord } from './csv-reader.js'
import { findFileTypeError, ZIP_SIGNATURE } from './detect-file-type.js'
import { readWorkbook } from './excel-reader.js'
import type { ImportError } from './import-errors.js'
import { MAX_LINE_BYTES, splitLineBlocks } from './line-blocks.js'

interface Callbacks {
  /** Called for encoding errors, for a line that is too long and for a file that is not CSV */
  onError: (error: ImportError) => void
  /** Called with the number of bytes read since the last call */
  onBytes: (bytes: number) => void
}

/**
 * An optional byte order mark, blank lines, the line with which Excel names the separator, blank
 * lines, and the first line after them.
 */
const PREAMBLE = /^\ufeff?(?:[\s,;]*\n)?(?:"?sep=(.)"?[\r,;]*\n)?(?:[\s,;]*\n)?([^\n]*)(\n?)/i

function parsePreamble(start: Buffer) {
  const [, separator = ',', firstLine = '', lineBreak = ''] =
    PREAMBLE.exec(start.toString('utf8')) ?? []
  return { separator, firstLine, isComplete: lineBreak !== '' }
}

/** Passes the file through. If the file is not CSV, reports an error and stops. */
async function* checkFileType(
  source: AsyncIterable<Buffer>,
  onError: (error: ImportError) => void,
  onSeparator: (separator: string) => void,
): AsyncGenerator<Buffer> {
  function hasError(start: Buffer): boolean {
    const { separator, firstLine } = parsePreamble(start)
    onSeparator(separator)
    const message = findFileTypeError(start, firstLine, separator)
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
    if (!parsePreamble(start).isComplete && start.length <= MAX_LINE_BYTES) continue
    if (hasError(start)) return
    yield start
    start = null
  }
  if (start !== null && !hasError(start)) yield start
}

const isBlank = ({ cells, error }: CsvRecord): boolean =>
  error === null && cells.every((cell) => cell.trim() === '')

const isSeparatorLine = ({ cells, error }: CsvRecord): boolean =>
  error === null && /^sep=.?$/i.test(cells.join(''))

async function* readCsv(
  source: AsyncIterable<Buffer>,
  { onError, onBytes }: Callbacks,
): AsyncGenerator<CsvRecord> {
  let separator = ','
  const checked = checkFileType(source, onError, (found) => (separator = found))
  let csv: ReturnType<typeof createCsvReader> | null = null
  for await (const { text, bytes } of splitLineBlocks(checked, onError)) {
    csv ??= createCsvReader(separator)
    yield* csv.read(text)
    onBytes(bytes)
    if (csv.isAborted()) return
  }
  if (csv !== null) yield* csv.end()
}

async function* readExcel(
  source: AsyncIterable<Buffer>,
  { onError, onBytes }: Callbacks,
): AsyncGenerator<CsvRecord> {
  async function* countBytes() {
    for await (const chunk of source) {
      onBytes(chunk.length)
      yield chunk
    }
  }
  const reportError = (message: string) => onError({ line: null, column: null, message })
  let isEmpty = true
  try {
    for await (const record of readWorkbook(countBytes())) {
      isEmpty = false
      yield record
    }
    if (isEmpty) reportError('This file is not an Excel workbook, or it is empty.')
  } catch {
    reportError('This file is not an Excel workbook, or it is damaged.')
  }
}

/**
 * Reads the records of a CSV file or an Excel workbook, skipping blank lines; reports an error if
 * the file is empty.
 */
export async function* readRecords(
  source: AsyncIterable<Buffer>,
  callbacks: Callbacks,
): AsyncGenerator<CsvRecord> {
  const chunks = source[Symbol.asyncIterator]()
  const first = await chunks.next()
  async function* readAll() {
    if (first.done !== true) yield first.value
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  const isExcel = first.done !== true && first.value.toString('latin1', 0, 4) === ZIP_SIGNATURE
  let isStart = true
  for await (const record of (isExcel ? readExcel : readCsv)(readAll(), callbacks)) {
    if (isBlank(record) || (isStart && isSeparatorLine(record))) continue
    isStart = false
    yield record
  }
}
