import type { Database } from '../../database/database.js'
import { DIALECTS } from '../store/dialect.js'
import {
  findConflicts,
  importMany,
  StagedOrders,
  type ImportConflict,
} from '../store/import-many.js'
import { parseHeader } from './columns.js'
import { createImportErrors, type ImportErrors } from './import-errors.js'
import { readRecords } from './read-records.js'
import { toImportedOrder, validateRow } from './validate-row.js'

const MAX_ERRORS = 1_000

/** Recorded in the history as the creator of imported orders. */
const IMPORT_USER = 'import'

export interface ImportProgress {
  /** Bytes and orders read so far */
  onRead: (bytes: number, orders: number) => void
  /** Called for each phase of the import transaction, while the store is locked for writing */
  onPhase: (phase: string) => void
}

type ImportResult = { ok: true; orders: number } | { ok: false; errors: ImportErrors }

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
  const addLineError = (line: number, message: string): void =>
    errors.add({ line, column: null, message })
  /** A duplicate ID or order number is an error of the later line. */
  const addConflict = ({ line, field, owner }: ImportConflict): void =>
    errors.add({
      line,
      column: field,
      message:
        'line' in owner
          ? `is a duplicate of line ${owner.line}`
          : `already belongs to order ${owner.id} (${owner.orderNumber})`,
    })

  let [bytesRead, recordsRead] = [0, 0]
  const records = readRecords(source, {
    onError: errors.add,
    onBytes: (bytes) => onRead((bytesRead += bytes), recordsRead),
  })
  const first = await records.next()
  if (first.done === true) return { ok: false, errors }
  if (first.value.error !== null) {
    addLineError(first.value.line, first.value.error)
    return { ok: false, errors }
  }
  const { header, errors: headerErrors } = parseHeader(first.value.line, first.value.cells)
  headerErrors.forEach(errors.add)
  // If no column is known, the lines below the header cannot be checked.
  if (header.columns.every((column) => column === null)) return { ok: false, errors }

  const staged = new StagedOrders()
  const now = new Date()
  const width = header.columns.length
  for await (const { line, cells, error } of records) {
    recordsRead++
    if (error !== null) addLineError(line, error)
    else if (cells.length !== width) {
      addLineError(line, `has ${cells.length} cells, expected ${width}`)
    } else {
      const { id, orderNumber, result } = validateRow(cells, header, now.getTime())
      staged.claim(line, id, orderNumber).forEach(addConflict)
      if (!result.ok) {
        for (const { path, message } of result.errors) errors.add({ line, column: path, message })
      } else if (errors.total === 0) {
        // After the first error, nothing will be imported.
        const order = toImportedOrder(result.value, now.toISOString())
        staged.add({ order, by: IMPORT_USER, history: [] })
      }
    }
  }

  const conflicts =
    errors.total > 0
      ? await database.read((tx) =>
          findConflicts(tx, DIALECTS[database.engine], staged, MAX_ERRORS),
        )
      : await importMany(database, staged, { maxConflicts: MAX_ERRORS, onPhase })
  conflicts.first.forEach(addConflict)
  errors.addCount(conflicts.total - conflicts.first.length)
  return errors.total > 0 ? { ok: false, errors } : { ok: true, orders: staged.count }
}
