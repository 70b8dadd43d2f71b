import { isUtf8 } from 'node:buffer'
import { arrayBuffer } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import ExcelJS, { type Cell, type Row } from 'exceljs'
import { Temporal } from 'temporal-polyfill'
import { getMinorUnitDigits } from '../../core/formatting/number-formatter.js'
import { escapeFormula } from '../../core/formatting/text.js'
import { fromExcelText } from '../spreadsheet-format.js'
import { findWrongSeparator, hasColumnName } from './columns.js'
import { createCsvReader, type CsvRecord } from './csv-reader.js'
import type { ImportError } from './import-errors.js'

const DATE_TITLE = /^(Placed|Created|Updated|Fulfilled|Cancelled|Paid) \((.+)\)$/

/** Reads a cell of one column. Dates of exported workbooks are in the time zone of their title. */
interface SheetColumn {
  name: string
  timeZone: string
  /** Whether the cells are amounts in major units */
  isAmount: boolean
}

function toColumn(title: string): SheetColumn {
  const [, field, timeZone = 'UTC'] = DATE_TITLE.exec(title) ?? []
  const isAmount = title === 'Amount'
  const name = field === undefined ? title : `${field.toLowerCase()}At`
  return { name: isAmount ? 'amountMinor' : name, timeZone, isAmount }
}

/** The value of a cell; of a formula, its result. */
function getValue({ value, text }: Cell): Date | number | string {
  const isFormula = value !== null && typeof value === 'object' && 'result' in value
  const result = isFormula ? value.result : value
  return result instanceof Date || typeof result === 'number' ? result : text
}

/** Excel dates have no time zone: the UTC fields of the Date are the local time. */
const toIsoTime = (local: Date, timeZone: string): string =>
  new Date(
    Temporal.PlainDateTime.from(local.toISOString().slice(0, -1)).toZonedDateTime(timeZone)
      .epochMilliseconds,
  ).toISOString()

function readRow(row: Row, columns: readonly SheetColumn[]): string[] {
  const width = Math.max(columns.length, row.cellCount)
  const values = Array.from({ length: width }, (_, index) => getValue(row.getCell(index + 1)))
  const currency = values[columns.findIndex(({ name }) => /^currency$/i.test(name))]
  return values.map((value, index) => {
    const { timeZone = 'UTC', isAmount = false } = columns[index] ?? {}
    if (value instanceof Date) return toIsoTime(value, timeZone)
    if (typeof value !== 'number') return escapeFormula(fromExcelText(value))
    return String(isAmount ? Math.round(value * 10 ** getMinorUnitDigits(String(currency))) : value)
  })
}

/**
 * Reads the rows of an Excel workbook as records of a CSV file, whose lines are the rows. Reads the
 * first sheet, and the other sheets with the same header. The workbook is read into memory, because
 * the streaming reader of exceljs waits forever for the end of a truncated file.
 */
export async function* readWorkbook(source: AsyncIterable<Buffer>): AsyncGenerator<CsvRecord> {
  const workbook = new ExcelJS.Workbook()
  await workbook.xlsx.load(await arrayBuffer(source))
  let columns: SheetColumn[] | null = null
  /** Rows of the sheets read so far, so that each line number occurs once */
  let offset = 0
  for (const sheet of workbook.worksheets) {
    const titles = readRow(sheet.getRow(1), []).map(toColumn)
    if (columns === null) {
      columns = titles
      yield { line: 1, cells: titles.map(({ name }) => name), error: null }
    } else if (!isDeepStrictEqual(titles, columns)) continue
    for (let line = 2; line <= sheet.rowCount; line++) {
      yield { line: offset + line, cells: readRow(sheet.getRow(line), columns), error: null }
    }
    offset += sheet.rowCount
  }
}

const NEWLINE = 0x0a
const BYTE_ORDER_MARK = '\ufeff'

/** Far longer than any order; limits the memory used for a file without line breaks. */
const MAX_LINE_BYTES = 4 * 1024 * 1024

/** Finds lines that are not UTF-8 or contain NUL. The block starts with line `firstLine`. */
function* findEncodingErrors(block: Buffer, firstLine: number): Generator<ImportError> {
  if (isUtf8(block) && !block.includes(0)) return
  for (let line = firstLine, start = 0; start < block.length; line++) {
    const end = block.indexOf(NEWLINE, start) + 1 || block.length
    const bytes = block.subarray(start, end)
    if (!isUtf8(bytes)) yield { line, column: null, message: 'is not valid UTF-8' }
    if (bytes.includes(0)) yield { line, column: null, message: 'contains a NUL character' }
    start = end
  }
}

/**
 * Splits a file into blocks of complete lines, each ending with LF. Removes the byte order mark.
 */
async function* splitLineBlocks(
  source: AsyncIterable<Buffer>,
  onError: (error: ImportError) => void,
): AsyncGenerator<{ text: string; bytes: number }> {
  let line = 1
  let pending: Buffer[] = []
  let pendingBytes = 0

  function finishBlock(last: Buffer): { text: string; bytes: number } {
    const block = Buffer.concat([...pending, last])
    for (const error of findEncodingErrors(block, line)) onError(error)
    const text = block.toString('utf8')
    const hasByteOrderMark = line === 1 && text.startsWith(BYTE_ORDER_MARK)
    line += text.split('\n').length - 1
    pending = []
    pendingBytes = 0
    return { text: hasByteOrderMark ? text.slice(1) : text, bytes: block.length }
  }

  for await (const chunk of source) {
    const end = chunk.lastIndexOf(NEWLINE) + 1
    if (end > 0) yield finishBlock(chunk.subarray(0, end))
    pending.push(chunk.subarray(end))
    pendingBytes += chunk.length - end
    if (pendingBytes > MAX_LINE_BYTES) {
      const message = 'is longer than 4 MB; the rest of the file was not read'
      onError({ line, column: null, message })
      return
    }
  }
  if (pendingBytes > 0) {
    const { text, bytes } = finishBlock(Buffer.alloc(0))
    yield { text: `${text}\n`, bytes }
  }
}

/** How a zip archive starts, such as an Excel workbook */
const ZIP_SIGNATURE = 'PK\x03\x04'

const SAVE_AS_CSV = 'Save it as CSV (UTF-8) and import that file.'
const UTF_16 = `This file is UTF-16 text. ${SAVE_AS_CSV}`

/** First bytes (latin1) of files that are commonly mistaken for CSV. */
const SIGNATURES: [prefix: string, message: string][] = [
  ['\xd0\xcf\x11\xe0', `This file is an old Excel workbook. ${SAVE_AS_CSV}`],
  ['\x1f\x8b', 'This file is compressed with gzip. Unpack it and import the CSV file.'],
  ['%PDF-', 'This file is a PDF. Only CSV (UTF-8) files can be imported.'],
  ['\xff\xfe', UTF_16],
  ['\xfe\xff', UTF_16],
]

/** Whether the first bytes are ASCII characters in UTF-16 without a byte order mark. */
const isUtf16WithoutBom = (start: Buffer): boolean =>
  [0, 1].some((zero) => [0, 1, 2, 3].every((i) => (start[i] === 0) === (i % 2 === zero)))

function findHeaderError(header: string, separator: string): string | null {
  if (header === '') return 'This file is empty. Add a header line with the column names.'
  if (hasColumnName(header, separator)) return null
  const wrong = findWrongSeparator(header)
  return wrong === null
    ? 'This file does not contain orders. The first line must contain column names such as customerName.'
    : `This file is separated by ${wrong}. Save it with commas as separators.`
}

/**
 * Checks whether a file can be a CSV file of orders.
 *
 * @param start the first bytes of the file
 * @param firstLine the line with the column names, without the LF
 * @returns an error message, or `null`
 */
function findFileTypeError(start: Buffer, firstLine: string, separator: string): string | null {
  const first = start.toString('latin1', 0, 8)
  const signature = SIGNATURES.find(([prefix]) => first.startsWith(prefix))
  if (signature !== undefined) return signature[1]
  if (isUtf16WithoutBom(start)) return UTF_16
  const [header = '', ...otherLines] = firstLine.replace(/^\r+|\r+$/g, '').split(/\r+/)
  const error = findHeaderError(header, separator)
  return otherLines.length > 0 && error === null
    ? 'The lines of this file end in CR only. Save it with LF or CRLF line endings.'
    : error
}

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

/** Reads until the line with the column names is complete, or too long. */
async function readStart(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let start = Buffer.alloc(0)
  while (!parsePreamble(start).isComplete && start.length <= MAX_LINE_BYTES) {
    const next = await chunks.next()
    if (next.done === true) break
    start = Buffer.concat([start, next.value])
  }
  return start
}

const isBlank = ({ cells, error }: CsvRecord): boolean =>
  error === null && cells.every((cell) => cell.trim() === '')

const isSeparatorLine = ({ cells, error }: CsvRecord): boolean =>
  error === null && /^sep=.?$/i.test(cells.join(''))

async function* readCsv(
  source: AsyncIterable<Buffer>,
  separator: string,
  { onError, onBytes }: Callbacks,
): AsyncGenerator<CsvRecord> {
  const csv = createCsvReader(separator)
  for await (const { text, bytes } of splitLineBlocks(source, onError)) {
    yield* csv.read(text)
    onBytes(bytes)
    if (csv.isAborted()) return
  }
  yield* csv.end()
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
 * the file is empty, or is neither.
 */
export async function* readRecords(
  source: AsyncIterable<Buffer>,
  callbacks: Callbacks,
): AsyncGenerator<CsvRecord> {
  const chunks = source[Symbol.asyncIterator]()
  const start = await readStart(chunks)
  async function* readAll() {
    yield start
    yield* { [Symbol.asyncIterator]: () => chunks }
  }
  const isExcel = start.toString('latin1', 0, 4) === ZIP_SIGNATURE
  const { separator, firstLine } = parsePreamble(start)
  const message = isExcel ? null : findFileTypeError(start, firstLine, separator)
  if (message !== null) {
    callbacks.onError({ line: null, column: null, message })
    await chunks.return?.()
    return
  }
  const records = isExcel
    ? readExcel(readAll(), callbacks)
    : readCsv(readAll(), separator, callbacks)
  let isStart = true
  for await (const record of records) {
    if (isBlank(record) || (isStart && isSeparatorLine(record))) continue
    isStart = false
    yield record
  }
}
