import { ImportedOrder, Order } from '../order.js'
import type { ImportError } from './import-errors.js'

/** A column of a file of orders. */
export type Column = keyof ImportedOrder

const COLUMNS = Object.keys(Order.properties) as Column[]
const REQUIRED: readonly Column[] = ImportedOrder.required

/** Whether a name in a header is that of a field. */
export const isColumn = (name: string): name is Column => COLUMNS.some((column) => column === name)

/** Whether some of the names are those of fields, where they are separated so. */
export const isColumnName = (names: string, separator: string): boolean =>
  names.split(separator).some((name) => isColumn(name.replace(/^"|"$/g, '')))

const WRONG_SEPARATORS: [character: string, name: string][] = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
]

/** What stands between names of fields in the place of commas; `null` for nothing that is known. */
export const findWrongSeparator = (names: string): string | null =>
  WRONG_SEPARATORS.find(
    ([character]) => names.includes(character) && isColumnName(names, character),
  )?.[1] ?? null

function unknownName(name: string): string {
  if (name === '') return 'has a column without a name'
  const used = findWrongSeparator(name)
  return used === null
    ? 'is not a known column'
    : `has names separated by ${used}; put commas between all of them, and between the cells`
}

/** What the cells of a line stand for. */
export interface Header {
  /** `null` for one that says nothing to us */
  columns: (Column | null)[]
  /** Those that every order needs and the file has not */
  missing: ReadonlySet<string>
}

/** Reads the first record of a file, which names the columns; tells all that is wrong with it. */
export function parseHeader(
  line: number,
  cells: string[],
): { header: Header; faults: ImportError[] } {
  const faults: ImportError[] = []
  const known = new Set<Column>()
  const columns = cells.map((name): Column | null => {
    if (!isColumn(name)) {
      faults.push({ line, column: name === '' ? null : name, message: unknownName(name) })
      return null
    }
    if (known.has(name)) {
      faults.push({ line, column: name, message: 'is there twice' })
      return null
    }
    known.add(name)
    return name
  })
  const missing = new Set<string>(REQUIRED.filter((name) => !known.has(name)))
  for (const column of missing) faults.push({ line, column, message: 'is missing in the header' })
  return { header: { columns, missing }, faults }
}
