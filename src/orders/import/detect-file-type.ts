import { isColumnName, findWrongSeparator } from './csv-header.js'

const SAVE_AS_CSV = 'save it as CSV (UTF-8) and import that'
const UTF_16 = `This is UTF-16 text; ${SAVE_AS_CSV}.`

/** What files begin with that are often taken for CSV, a character for each byte. */
const SIGNATURES: [start: string, message: string][] = [
  ['PK\x03\x04', `This is an Excel workbook or another zip file; ${SAVE_AS_CSV}.`],
  ['\xd0\xcf\x11\xe0', `This is an old Excel workbook; ${SAVE_AS_CSV}.`],
  ['\x1f\x8b', 'This is a gzip file; unpack it and import what is in it.'],
  ['%PDF-', 'This is a PDF; orders are read from CSV (UTF-8) only.'],
  ['\xff\xfe', UTF_16],
  ['\xfe\xff', UTF_16],
]

/** Whether letters of ASCII are in UTF-16, with no mark before them: every second byte is zero. */
const isUnmarkedUtf16 = (start: Buffer): boolean =>
  [0, 1].some((zero) => [0, 1, 2, 3].every((i) => (start[i] === 0) === (i % 2 === zero)))

/** Why a header cannot be one of orders, in a sentence. */
function wrongHeader(header: string): string | null {
  if (header === '') return 'This file is empty; it needs a header with the names of the fields.'
  if (isColumnName(header, ',')) return null
  const used = findWrongSeparator(header)
  return used === null
    ? 'This is not a file of orders; its first line must name their fields, such as customerName.'
    : `The cells of this file are separated by ${used}; save it with commas between them.`
}

/**
 * Why a file as a whole cannot be one of orders, in a sentence; `null` where it can. Pure.
 *
 * @param start its first bytes
 * @param firstLine its first line that is not blank, without the LF
 */
export function findWrongFileType(start: Buffer, firstLine: string): string | null {
  const first = start.toString('latin1', 0, 8)
  const signature = SIGNATURES.find(([begins]) => first.startsWith(begins))
  if (signature !== undefined) return signature[1]
  if (isUnmarkedUtf16(start)) return UTF_16
  const [header = '', ...others] = firstLine.replace(/^\r+|\r+$/g, '').split(/\r+/)
  const fault = wrongHeader(header)
  return others.length > 0 && fault === null
    ? 'The lines of this file end in CR alone; save it with LF or CRLF as line breaks.'
    : fault
}
