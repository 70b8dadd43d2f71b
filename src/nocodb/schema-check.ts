import { isObject } from '../core/validation/is-object.js'
import { COLUMN_FIELDS, COLUMNS, type ColumnField, type ColumnTitles, type Row } from './columns.js'
import type { NocoDbClient } from './nocodb-client.js'
import { NocoDbError } from './nocodb-error.js'

/** A column of the NocoDB table. */
export interface TableColumn {
  id: string
  title: string
  /** NocoDB type, such as `SingleLineText` */
  type: string
  /** Titles of the options of a SingleSelect column */
  choices: string[]
  /** The same options with colours and IDs, as NocoDB returns them */
  rawChoices: unknown[]
}

/** A column that is missing or invalid. */
export interface SchemaMismatch {
  field: ColumnField
  title: string
  /** A predicate such as "is missing" */
  reason: string
}

function parseColumn(value: unknown): TableColumn | null {
  if (!isObject(value) || typeof value.title !== 'string' || typeof value.type !== 'string') {
    return null
  }
  const options = isObject(value.options) ? value.options : {}
  const rawChoices = Array.isArray(options.choices) ? options.choices : []
  return {
    id: String(value.id),
    title: value.title,
    type: value.type,
    choices: rawChoices.flatMap((choice) =>
      isObject(choice) && typeof choice.title === 'string' ? [choice.title] : [],
    ),
    rawChoices,
  }
}

/** Reads the columns of a table. Throws NocoDbError. */
export async function fetchColumns(
  client: Pick<NocoDbClient, 'request'>,
  baseId: string,
  tableId: string,
): Promise<TableColumn[]> {
  const response = await client.request({
    method: 'GET',
    path: `/api/v3/meta/bases/${encodeURIComponent(baseId)}/tables/${encodeURIComponent(tableId)}`,
    priority: 'background',
  })
  if (!isObject(response) || !Array.isArray(response.fields)) {
    throw new NocoDbError('invalid_response')
  }
  return response.fields.map(parseColumn).filter((column) => column !== null)
}

/** Whether a complete row lacks a column. NocoDB silently drops values for missing columns. */
export const hasMissingColumns = (row: Row, titles: ColumnTitles): boolean =>
  COLUMN_FIELDS.some((field) => !Object.hasOwn(row, titles[field]))

/** Required options that a column does not have. */
export const findMissingChoices = (field: ColumnField, column: TableColumn): string[] =>
  column.type === 'SingleSelect'
    ? (COLUMNS[field].choices ?? []).filter((choice) => !column.choices.includes(choice))
    : []

function findMismatch(field: ColumnField, column: TableColumn | undefined): string | null {
  if (column === undefined) return 'is missing'
  const { nocoDbType, otherNocoDbTypes = [] } = COLUMNS[field]
  const types = [nocoDbType, ...otherNocoDbTypes]
  if (!types.includes(column.type)) {
    return `is of type ${column.type}; it must be ${types.join(' or ')}`
  }
  const missing = findMissingChoices(field, column)
  return missing.length > 0 ? `is missing the options ${missing.join(', ')}` : null
}

/** The columns that prevent a table from holding orders. */
export const findSchemaMismatches = (
  columns: TableColumn[],
  titles: ColumnTitles,
): SchemaMismatch[] =>
  COLUMN_FIELDS.flatMap((field): SchemaMismatch[] => {
    const title = titles[field]
    const reason = findMismatch(
      field,
      columns.find((column) => column.title === title),
    )
    return reason === null ? [] : [{ field, title, reason }]
  })
