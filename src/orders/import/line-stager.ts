import type { Clash, StagedOrders } from '../book/staged-orders.js'
import type { CsvRecord } from './csv-records.js'
import type { Fault, FaultList } from './faults.js'
import type { Header } from './header.js'
import { importedOrder } from './imported-order.js'
import { orderCheck } from './order-check.js'

/** Who enters orders that come from a file. */
const IMPORTER = 'import'

/** Two orders that claim the same, as the fault of the later one. */
export function clashFault({ line, field, owner }: Clash): Fault {
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
export function lineStager(
  header: Header,
  { staged, faults, now }: { staged: StagedOrders; faults: FaultList; now: Date },
): (record: CsvRecord) => void {
  const check = orderCheck(header, now.getTime())
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
    for (const clash of staged.claim(line, id, orderNumber)) faults.add(clashFault(clash))
    if (!checked.ok) {
      for (const { path, message } of checked.errors) faults.add({ line, column: path, message })
    } else if (faults.total === 0) staged.add(line, importedOrder(checked.value, time), IMPORTER)
  }
}
