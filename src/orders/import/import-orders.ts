import type { Database } from '../../database/database.js'
import { DIALECTS } from '../store/dialect.js'
import { findConflicts, importMany, type ImportConflicts } from '../store/import-many.js'
import { StagedOrders } from '../store/staged-orders.js'
import { parseHeader } from './csv-header.js'
import { createImportErrors, type ImportErrors } from './import-errors.js'
import { readRecords } from './read-records.js'
import { toConflictError, createRowStager } from './row-stager.js'

const MAX_ERRORS = 1_000

export interface ImportProgress {
  /** Bytes and orders read so far */
  onRead: (bytes: number, orders: number) => void
  /** Called for each phase of the import transaction, while the store is locked for writing */
  onPhase: (phase: string) => void
}

export type ImportResult = { ok: true; orders: number } | { ok: false; errors: ImportErrors }

/**
 * Imports a CSV file or an Excel workbook in the format of the export: all orders, or none if there
 * is any error. The store is not locked while the file is being read.
 */
export async function importOrders(
  database: Database,
  source: AsyncIterable<Buffer>,
  { onRead, onPhase }: ImportProgress,
): Promise<ImportResult> {
  const errors = createImportErrors(MAX_ERRORS)
  const staged = new StagedOrders()
  let [bytesRead, recordsRead] = [0, 0]
  const records = readRecords(source, {
    onError: errors.add,
    onBytes: (bytes) => onRead((bytesRead += bytes), recordsRead),
  })

  const first = await records.next()
  if (first.done === true) return { ok: false, errors }
  const { line, cells, error } = first.value
  const { header, errors: headerErrors } = parseHeader(line, cells)
  if (error !== null) errors.add({ line, column: null, message: error })
  else headerErrors.forEach(errors.add)
  // If no column is known, the lines below the header cannot be checked.
  if (error !== null || header.columns.every((column) => column === null)) {
    return { ok: false, errors }
  }

  const stageRow = createRowStager(header, { staged, errors, now: new Date() })
  for await (const record of records) {
    recordsRead++
    stageRow(record)
  }

  const addConflicts = ({ first, total }: ImportConflicts): void => {
    for (const conflict of first) errors.add(toConflictError(conflict))
    errors.addCount(total - first.length)
  }
  if (errors.total > 0) {
    const dialect = DIALECTS[database.engine]
    addConflicts(await database.read((tx) => findConflicts(tx, dialect, staged, MAX_ERRORS)))
    return { ok: false, errors }
  }
  const result = await importMany(database, staged, { maxConflicts: MAX_ERRORS, onPhase })
  if (result.outcome === 'imported') return { ok: true, orders: result.orders }
  addConflicts(result)
  return { ok: false, errors }
}
