import { csvReader, type CsvRecord } from './csv-records.js'
import type { Fault } from './faults.js'
import { bytesOfOrders } from './file-start.js'
import { textBlocks } from './text-blocks.js'

interface Listeners {
  /** Told of lines whose bytes are no text, and of a file that cannot be one of orders */
  onFault: (fault: Fault) => void
  /** Told how much more has been read */
  onBytes: (bytes: number) => void
}

const isBlank = ({ cells, fault }: CsvRecord): boolean =>
  fault === null && cells.length === 1 && cells[0] === ''

/** The records of a file, without blank lines. Where there is none, a fault has said why. */
export async function* fileRecords(
  source: AsyncIterable<Buffer>,
  { onFault, onBytes }: Listeners,
): AsyncGenerator<CsvRecord> {
  const csv = csvReader()
  for await (const { text, bytes } of textBlocks(bytesOfOrders(source, onFault), onFault)) {
    for (const record of csv.read(text)) if (!isBlank(record)) yield record
    onBytes(bytes)
    if (csv.isStuck()) return
  }
  yield* csv.end()
}
