import type { ImportConflict, StagedOrders } from '../store/staged-orders.js'
import type { Header } from './csv-header.js'
import type { CsvRecord } from './csv-reader.js'
import type { ImportError, ImportErrors } from './import-errors.js'
import { toImportedOrder, createRowValidator } from './validate-row.js'

/** Recorded in the history as the creator of imported orders. */
const IMPORT_USER = 'import'

/** Converts a duplicate id or order number to an error for the later line. */
export function toConflictError({ line, field, owner }: ImportConflict): ImportError {
  const message =
    'line' in owner
      ? `is a duplicate of line ${owner.line}`
      : `already belongs to order ${owner.id} (${owner.orderNumber})`
  return { line, column: field, message }
}

/**
 * Creates a function that validates a record and stages its order, or collects its errors. Nothing
 * more is staged after the first error, because nothing will be imported.
 */
export function createRowStager(
  header: Header,
  { staged, errors, now }: { staged: StagedOrders; errors: ImportErrors; now: Date },
): (record: CsvRecord) => void {
  const validateRow = createRowValidator(header, now.getTime())
  const timestamp = now.toISOString()
  const width = header.columns.length

  return ({ line, cells, error }) => {
    const message =
      error ?? (cells.length === width ? null : `has ${cells.length} cells, expected ${width}`)
    if (message !== null) {
      errors.add({ line, column: null, message })
      return
    }
    const { id, orderNumber, result } = validateRow(cells)
    for (const conflict of staged.claim(line, id, orderNumber)) {
      errors.add(toConflictError(conflict))
    }
    if (!result.ok) {
      for (const { path, message } of result.errors) errors.add({ line, column: path, message })
    } else if (errors.total === 0) {
      const order = toImportedOrder(result.value, timestamp)
      staged.add({ order, by: IMPORT_USER, history: [] })
    }
  }
}
