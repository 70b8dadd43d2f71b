import type { ImportError } from './import-errors.js'
import { findWrongFileType } from './detect-file-type.js'
import { MAX_LINE_BYTES } from './line-blocks.js'

/** A byte order mark, blank lines, and the first line with something on it. */
const START = /^\ufeff?(?:\r?\n)*([^\n]*)(\n?)/

/** The first line that is not blank, as far as it has come, and whether that is all of it. */
function firstLineOf(start: Buffer): { firstLine: string; isWhole: boolean } {
  const [, firstLine = '', lineBreak = ''] = START.exec(start.toString('utf8')) ?? []
  return { firstLine, isWhole: lineBreak !== '' }
}

/**
 * The bytes of a file, of which the start is looked at first: where it shows that this is no file
 * of orders, one fault says why, and nothing follows.
 */
export async function* skipPreamble(
  source: AsyncIterable<Buffer>,
  onFault: (fault: ImportError) => void,
): AsyncGenerator<Buffer> {
  function isWrong(start: Buffer): boolean {
    const message = findWrongFileType(start, firstLineOf(start).firstLine)
    if (message !== null) onFault({ line: null, column: null, message })
    return message !== null
  }

  let start: Buffer | null = Buffer.alloc(0)
  for await (const chunk of source) {
    if (start === null) {
      yield chunk
      continue
    }
    start = Buffer.concat([start, chunk])
    if (!firstLineOf(start).isWhole && start.length <= MAX_LINE_BYTES) continue
    if (isWrong(start)) return
    yield start
    start = null
  }
  if (start !== null && !isWrong(start)) yield start
}
