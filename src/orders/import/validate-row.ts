import { unescapeFormula } from '../../core/formatting/text.js'
import type { FieldError } from '../../core/validation/field-errors.js'
import { parseJson } from '../../core/validation/formats.js'
import { createFirstVersion } from '../change-order.js'
import { inferPaidAt } from '../order-status.js'
import { ImportedOrder } from '../order.js'
import type { StagedOrder } from '../store/import-many.js'
import { checker, findTimestampErrors, validateNewOrder } from '../validators.js'
import type { Column, Header } from './columns.js'

const check = checker(ImportedOrder)

const NUMBER_COLUMNS: ReadonlySet<Column> = new Set<Column>(['co2eKg', 'amountMinor', 'version'])
const JSON_COLUMNS: ReadonlySet<Column> = new Set<Column>([
  'calculatorData',
  'calculation',
  'checkout',
  'retirement',
])
/** Columns that can hold a long whole number, which a spreadsheet shows as `1.23457E+11`. */
const WHOLE_NUMBER_COLUMNS: ReadonlySet<Column> = new Set<Column>([
  'id',
  'orderNumber',
  'imoNumber',
  'amountMinor',
  'orderSourceId',
  'version',
])
const SHORTENED = /^\d(?:[.,]\d+)?[eE]\+\d+$/
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/**
 * Converts cells to field values; skips empty cells. Invalid numbers remain text, which the
 * validator rejects.
 */
function parseCells({ columns }: Header, cells: string[]) {
  const values: Partial<Record<Column, unknown>> = {}
  const errors: FieldError[] = []
  for (const [i, column] of columns.entries()) {
    const cell = cells[i] ?? ''
    if (column === null || cell === '') continue
    if (WHOLE_NUMBER_COLUMNS.has(column) && SHORTENED.test(cell)) {
      const message =
        'was shortened by a spreadsheet, and its last digits are lost; export the file again, and format the column as text before you save it'
      errors.push({ path: column, message })
    }
    if (NUMBER_COLUMNS.has(column)) values[column] = NUMBER.test(cell) ? Number(cell) : cell
    else if (!JSON_COLUMNS.has(column)) values[column] = unescapeFormula(cell)
    else {
      const data = parseJson(cell)
      if (data === undefined) errors.push({ path: column, message: 'must be JSON' })
      else values[column] = data
    }
  }
  return { values, errors }
}

/**
 * Validates the cells of a line. The ID and the order number are returned even if other fields are
 * invalid, to find duplicates.
 *
 * @param now ms since 1970
 */
export function validateRow(cells: string[], header: Header, now: number) {
  const { values, errors } = parseCells(header, cells)
  const { id, orderNumber } = values
  const result = check(values)
  errors.push(...validateNewOrder(values), ...findTimestampErrors(values, now))
  // Missing columns are reported once, for the header.
  const reported = new Set([...header.missing, ...errors.map(({ path }) => path)])
  if (!result.ok) errors.push(...result.errors.filter(({ path }) => !reported.has(path)))
  return {
    id: typeof id === 'string' ? id : null,
    orderNumber: typeof orderNumber === 'string' ? orderNumber : null,
    result:
      result.ok && errors.length === 0
        ? result
        : ({ ok: false, errors: sortByColumn(errors, header) } as const),
  }
}

/** Sorts errors in the order of the file's columns. */
function sortByColumn(errors: FieldError[], { columns }: Header): FieldError[] {
  const getPosition = ({ path }: FieldError): number => {
    const [field] = path.split('.')
    const index = columns.findIndex((column) => column === field)
    return index === -1 ? columns.length : index
  }
  return errors.toSorted((a, b) => getPosition(a) - getPosition(b))
}

const earlier = (a: string, b: string): string => (Date.parse(a) < Date.parse(b) ? a : b)
const later = (a: string, b: string): string => (Date.parse(a) < Date.parse(b) ? b : a)

/** Adds defaults for the fields that the file leaves out. */
export function toImportedOrder(imported: ImportedOrder, now: string): StagedOrder {
  const { status = 'pending', version = 1 } = imported
  // A default must not put updatedAt before createdAt.
  const createdAt = imported.createdAt ?? earlier(now, imported.updatedAt ?? now)
  const updatedAt = imported.updatedAt ?? later(now, createdAt)
  const fulfilledAt = imported.fulfilledAt ?? (status === 'fulfilled' ? updatedAt : null)
  const cancelledFrom = imported.cancelledFrom ?? null
  return {
    ...createFirstVersion(imported, now),
    id: imported.id ?? null,
    orderNumber: imported.orderNumber ?? null,
    status,
    createdAt,
    updatedAt,
    fulfilledAt,
    cancelledAt: imported.cancelledAt ?? (status === 'cancelled' ? updatedAt : null),
    cancelledFrom,
    paidAt: imported.paidAt ?? inferPaidAt({ status, cancelledFrom, fulfilledAt, createdAt }),
    retirement: imported.retirement ?? null,
    version,
    // The factor edition of an imported order is unknown unless the file contains it.
    calculation: imported.calculation ?? null,
  }
}
