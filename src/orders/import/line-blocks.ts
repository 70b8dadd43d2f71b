import { isUtf8 } from 'node:buffer'
import type { ImportError } from './import-errors.js'

const NEWLINE = 0x0a
const BYTE_ORDER_MARK = '\ufeff'

/** No order comes near it; a file without line breaks is not read into memory to find that out. */
export const MAX_LINE_BYTES = 4 * 1024 * 1024

/** What is wrong with the bytes of some lines, of which `first` is the first. */
function* byteFaults(block: Buffer, first: number): Generator<ImportError> {
  if (isUtf8(block) && !block.includes(0)) return
  for (let line = first, start = 0; start < block.length; line++) {
    const end = block.indexOf(NEWLINE, start) + 1 || block.length
    const bytes = block.subarray(start, end)
    if (!isUtf8(bytes)) yield { line, column: null, message: 'is not UTF-8 text' }
    if (bytes.includes(0)) yield { line, column: null, message: 'has a NUL character' }
    start = end
  }
}

function countNewlines(block: Buffer): number {
  let count = 0
  for (let at = block.indexOf(NEWLINE); at !== -1; at = block.indexOf(NEWLINE, at + 1)) count++
  return count
}

/**
 * The text of a file in blocks of whole lines, without its byte order mark. The last line ends
 * with a line break as all others do.
 */
export async function* splitLineBlocks(
  source: AsyncIterable<Buffer>,
  onFault: (fault: ImportError) => void,
): AsyncGenerator<{ text: string; bytes: number }> {
  let line = 1
  let begun: Buffer[] = []
  let begunBytes = 0

  function blockOf(last: Buffer): { text: string; bytes: number } {
    const block = Buffer.concat([...begun, last])
    for (const fault of byteFaults(block, line)) onFault(fault)
    const text = block.toString('utf8')
    const marked = line === 1 && text.startsWith(BYTE_ORDER_MARK)
    line += countNewlines(block)
    begun = []
    begunBytes = 0
    return { text: marked ? text.slice(1) : text, bytes: block.length }
  }

  for await (const chunk of source) {
    const cut = chunk.lastIndexOf(NEWLINE) + 1
    if (cut > 0) yield blockOf(chunk.subarray(0, cut))
    begun.push(chunk.subarray(cut))
    begunBytes += chunk.length - cut
    if (begunBytes > MAX_LINE_BYTES) {
      onFault({ line, column: null, message: 'is longer than 4 MB; nothing after it was read' })
      return
    }
  }
  if (begunBytes > 0) {
    const { text, bytes } = blockOf(Buffer.alloc(0))
    yield { text: `${text}\n`, bytes }
  }
}
