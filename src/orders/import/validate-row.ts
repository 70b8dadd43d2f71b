import type { FieldError } from '../../validation/field-errors.js'
import type { ValidationResult } from '../../validation/validator.js'
import { ImportedOrder } from '../order.js'
import { findTimestampErrors, validateNewOrder } from '../apply-changes.js'
import { checker } from '../validators.js'
import { parseCells } from './parse-cells.js'
import type { Header } from './csv-header.js'

const check = checker(ImportedOrder)

/** What a line says, and all that is wrong with it. */
export interface ValidatedRow {
  /** What it claims for itself, also where the rest is wrong */
  id: string | null
  orderNumber: string | null
  checked: ValidationResult<ImportedOrder>
}

/**
 * Makes a function that checks the lines of a file.
 *
 * @param now ms since the epoch
 */
export function createRowValidator(header: Header, now: number): (cells: string[]) => ValidatedRow {
  return (cells) => {
    const { given, errors } = parseCells(header, cells)
    const { id, orderNumber } = given
    const checked = check(given)
    const found: FieldError[] = [
      ...errors,
      ...validateNewOrder(given, now),
      ...findTimestampErrors(given, now),
    ]
    if (!checked.ok) {
      // The header was told of what it lacks, once.
      found.push(...checked.errors.filter(({ path }) => !header.missing.has(path)))
    }
    return {
      id: typeof id === 'string' ? id : null,
      orderNumber: typeof orderNumber === 'string' ? orderNumber : null,
      checked:
        checked.ok && found.length === 0 ? checked : { ok: false, errors: byColumn(found, header) },
    }
  }
}

/** As a person reads a line: from left to right. */
function byColumn(errors: FieldError[], { columns }: Header): FieldError[] {
  const place = ({ path }: FieldError): number => {
    const [field] = path.split('.')
    const at = columns.findIndex((column) => column === field)
    return at === -1 ? columns.length : at
  }
  return errors.toSorted((a, b) => place(a) - place(b))
}
