import { createCsvReader, type CsvRecord } from './csv-reader.js'
import type { ImportError } from './import-errors.js'
import { skipPreamble } from './skip-preamble.js'
import { splitLineBlocks } from './line-blocks.js'

interface Listeners {
  /** Told of lines whose bytes are no text, and of a file that cannot be one of orders */
  onFault: (fault: ImportError) => void
  /** Told how much more has been read */
  onBytes: (bytes: number) => void
}

const isBlank = ({ cells, fault }: CsvRecord): boolean =>
  fault === null && cells.length === 1 && cells[0] === ''

/** The records of a file, without blank lines. Where there is none, a fault has said why. */
export async function* readRecords(
  source: AsyncIterable<Buffer>,
  { onFault, onBytes }: Listeners,
): AsyncGenerator<CsvRecord> {
  const csv = createCsvReader()
  for await (const { text, bytes } of splitLineBlocks(skipPreamble(source, onFault), onFault)) {
    for (const record of csv.read(text)) if (!isBlank(record)) yield record
    onBytes(bytes)
    if (csv.isStuck()) return
  }
  yield* csv.end()
}
