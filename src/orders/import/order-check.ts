import type { FieldError } from '../../validation/field-errors.js'
import type { Checked } from '../../validation/validator.js'
import { ImportedOrder } from '../order.js'
import { momentFaults, newOrderFaults } from '../order-changes.js'
import { checker } from '../vocabulary.js'
import { readCells } from './order-cells.js'
import type { Header } from './header.js'

const check = checker(ImportedOrder)

/** What a line says, and all that is wrong with it. */
export interface CheckedLine {
  /** What it claims for itself, also where the rest is wrong */
  id: string | null
  orderNumber: string | null
  checked: Checked<ImportedOrder>
}

/**
 * Makes a function that checks the lines of a file.
 *
 * @param now ms since the epoch
 */
export function orderCheck(header: Header, now: number): (cells: string[]) => CheckedLine {
  return (cells) => {
    const { given, errors } = readCells(header, cells)
    const { id, orderNumber } = given
    const checked = check(given)
    const found: FieldError[] = [
      ...errors,
      ...newOrderFaults(given, now),
      ...momentFaults(given, now),
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
