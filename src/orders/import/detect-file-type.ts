import { hasColumnName, findWrongSeparator } from './csv-header.js'

/** How a zip archive starts, such as an Excel workbook */
export const ZIP_SIGNATURE = 'PK\x03\x04'

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
export function findFileTypeError(
  start: Buffer,
  firstLine: string,
  separator: string,
): string | null {
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
