import type { ImportConflict, StagedOrders } from '../../order-store/sqlite/staged-orders.js'
import type { CsvRecord } from './csv-reader.js'
import type { ImportError, ImportErrors } from './import-errors.js'
import type { Header } from './csv-header.js'
import { toImportedOrder } from './imported-order.js'
import { createRowValidator } from './validate-row.js'

/** Who enters orders that come from a file. */
const IMPORTER = 'import'

/** Two orders that claim the same, as the fault of the later one. */
export function toConflictError({ line, field, owner }: ImportConflict): ImportError {
  const message =
    'line' in owner
      ? `is on line ${owner.line} already`
      : `belongs to order ${owner.id} (${owner.orderNumber}) in the book already`
  return { line, column: field, message }
}

/**
 * Makes a function that checks a record and stages the order in it, or tells all that is wrong
 * with it. Once there is a fault nothing more is staged, as nothing will be entered.
 */
export function createRowStager(
  header: Header,
  { staged, faults, now }: { staged: StagedOrders; faults: ImportErrors; now: Date },
): (record: CsvRecord) => void {
  const check = createRowValidator(header, now.getTime())
  const time = now.toISOString()
  const width = header.columns.length

  return ({ line, cells, fault }) => {
    const malformed =
      cells.length === width ? fault : (fault ?? `has ${cells.length} cells, the header ${width}`)
    if (malformed !== null) {
      faults.add({ line, column: null, message: malformed })
      return
    }
    const { id, orderNumber, checked } = check(cells)
    for (const clash of staged.claim(line, id, orderNumber)) faults.add(toConflictError(clash))
    if (!checked.ok) {
      for (const { path, message } of checked.errors) faults.add({ line, column: path, message })
    } else if (faults.total === 0) staged.add(line, toImportedOrder(checked.value, time), IMPORTER)
  }
}
