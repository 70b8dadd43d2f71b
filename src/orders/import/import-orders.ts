import type { Database } from 'better-sqlite3'
import { enterStagedOrders } from '../book/enter-staged-orders.js'
import { stagedOrders } from '../book/staged-orders.js'
import { faultList, type FaultList } from './faults.js'
import { fileRecords } from './file-records.js'
import { readHeader } from './header.js'
import { clashFault, lineStager } from './line-stager.js'

/** More than anybody mends by hand. */
const MOST_FAULTS = 1_000

/** Told how an import gets on. */
export interface ImportProgress {
  /** So much of the file has been read */
  onRead: (bytes: number, orders: number) => void
  /** What is being done to the book now, in words; it is locked for other writers meanwhile */
  onPhase: (phase: string) => void
}

export type ImportOutcome = { ok: true; orders: number } | { ok: false; faults: FaultList }

/**
 * Reads a file of orders, as the export writes it, into the book: all of it, or, where anything
 * is wrong with it, nothing. The book is not locked while the file is being read.
 */
export async function importOrders(
  db: Database,
  source: AsyncIterable<Buffer>,
  { onRead, onPhase }: ImportProgress,
): Promise<ImportOutcome> {
  const faults = faultList(MOST_FAULTS)
  const staged = stagedOrders(db)
  let [bytesRead, recordsRead] = [0, 0]
  const records = fileRecords(source, {
    onFault: faults.add,
    onBytes: (bytes) => onRead((bytesRead += bytes), recordsRead),
  })

  const first = await records.next()
  if (first.done === true) return { ok: false, faults }
  const { line, cells, fault } = first.value
  const { header, faults: headerFaults } = readHeader(line, cells)
  if (fault !== null) faults.add({ line, column: null, message: fault })
  else headerFaults.forEach(faults.add)
  // Without a header that says anything, nothing can be told of the lines below it.
  if (fault !== null || header.columns.every((column) => column === null)) {
    return { ok: false, faults }
  }

  const stage = lineStager(header, { staged, faults, now: new Date() })
  for await (const record of records) {
    recordsRead++
    stage(record)
  }

  const addClashes = ({ first, total }: ReturnType<typeof staged.clashesWithBook>): void => {
    for (const clash of first) faults.add(clashFault(clash))
    faults.addUntold(total - first.length)
  }
  if (faults.total > 0) {
    addClashes(staged.clashesWithBook(MOST_FAULTS))
    return { ok: false, faults }
  }
  const entered = enterStagedOrders(db, staged, { mostClashes: MOST_FAULTS, onPhase })
  if (entered.outcome === 'entered') return { ok: true, orders: entered.orders }
  addClashes(entered)
  return { ok: false, faults }
}
