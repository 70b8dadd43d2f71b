import type { Database } from 'better-sqlite3'
import { importStagedOrders } from '../../order-store/sqlite/import-staged-orders.js'
import { openStagedOrders } from '../../order-store/sqlite/staged-orders.js'
import { createImportErrors, type ImportErrors } from './import-errors.js'
import { readRecords } from './read-records.js'
import { parseHeader } from './csv-header.js'
import { toConflictError, createRowStager } from './row-stager.js'

/** More than anybody mends by hand. */
const MOST_FAULTS = 1_000

/** Told how an import gets on. */
export interface ImportProgress {
  /** So much of the file has been read */
  onRead: (bytes: number, orders: number) => void
  /** What is being done to the book now, in words; it is locked for other writers meanwhile */
  onPhase: (phase: string) => void
}

export type ImportResult = { ok: true; orders: number } | { ok: false; faults: ImportErrors }

/**
 * Reads a file of orders, as the export writes it, into the book: all of it, or, where anything
 * is wrong with it, nothing. The book is not locked while the file is being read.
 */
export async function importOrders(
  db: Database,
  source: AsyncIterable<Buffer>,
  { onRead, onPhase }: ImportProgress,
): Promise<ImportResult> {
  const faults = createImportErrors(MOST_FAULTS)
  const staged = openStagedOrders(db)
  let [bytesRead, recordsRead] = [0, 0]
  const records = readRecords(source, {
    onFault: faults.add,
    onBytes: (bytes) => onRead((bytesRead += bytes), recordsRead),
  })

  const first = await records.next()
  if (first.done === true) return { ok: false, faults }
  const { line, cells, fault } = first.value
  const { header, faults: headerFaults } = parseHeader(line, cells)
  if (fault !== null) faults.add({ line, column: null, message: fault })
  else headerFaults.forEach(faults.add)
  // Without a header that says anything, nothing can be told of the lines below it.
  if (fault !== null || header.columns.every((column) => column === null)) {
    return { ok: false, faults }
  }

  const stage = createRowStager(header, { staged, faults, now: new Date() })
  for await (const record of records) {
    recordsRead++
    stage(record)
  }

  const addClashes = ({ first, total }: ReturnType<typeof staged.clashesWithBook>): void => {
    for (const clash of first) faults.add(toConflictError(clash))
    faults.addUntold(total - first.length)
  }
  if (faults.total > 0) {
    addClashes(staged.clashesWithBook(MOST_FAULTS))
    return { ok: false, faults }
  }
  const entered = importStagedOrders(db, staged, { mostClashes: MOST_FAULTS, onPhase })
  if (entered.outcome === 'entered') return { ok: true, orders: entered.orders }
  addClashes(entered)
  return { ok: false, faults }
}
