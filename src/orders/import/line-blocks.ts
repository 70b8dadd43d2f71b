import { isUtf8 } from 'node:buffer'
import type { ImportError } from './import-errors.js'

const NEWLINE = 0x0a
const BYTE_ORDER_MARK = '\ufeff'

/** Far longer than any order; limits the memory used for a file without line breaks. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024

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
export async function* splitLineBlocks(
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
