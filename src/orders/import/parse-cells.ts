import type { FieldError } from '../../validation/field-errors.js'
import { unescapeFormula } from '../formula-escaping.js'
import type { Column, Header } from './csv-header.js'

const NUMBERS: ReadonlySet<Column> = new Set<Column>(['co2eKg', 'amountMinor', 'version'])

const PLAIN_NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/**
 * What the cells of a line say, unchecked, without the empty ones; and what they do not even say.
 * A number that is none stays text, which the check then finds.
 */
export function parseCells({ columns }: Pick<Header, 'columns'>, cells: string[]) {
  const given: Partial<Record<Column, unknown>> = {}
  const errors: FieldError[] = []
  for (const [i, column] of columns.entries()) {
    const cell = cells[i] ?? ''
    if (column === null || cell === '') continue
    if (NUMBERS.has(column)) given[column] = PLAIN_NUMBER.test(cell) ? Number(cell) : cell
    else if (column !== 'calculatorData') given[column] = unescapeFormula(cell)
    else {
      const data = parsed(cell)
      if (data === undefined) errors.push({ path: column, message: 'must be JSON' })
      else given[column] = data
    }
  }
  return { given, errors }
}
