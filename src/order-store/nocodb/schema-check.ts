import { isObject } from '../../validation/is-object.js'
import { COLUMN_FIELDS, COLUMNS, type ColumnField, type ColumnTitles } from './columns.js'
import type { NocoDbClient } from './nocodb-client.js'
import { NocoDbError } from './nocodb-error.js'

/** A column as NocoDB describes it. */
export interface TableColumn {
  id: string
  title: string
  type: string
  /** Titles of its options */
  choices: string[]
  /** Its options as NocoDB has them, with colours and ids */
  rawChoices: unknown[]
}

/** Why a column of the table does not do. */
export interface SchemaMismatch {
  field: ColumnField
  title: string
  /** In words, such as "is missing" */
  fault: string
  isMissing: boolean
}

function columnOf(value: unknown): TableColumn | null {
  if (!isObject(value) || typeof value.title !== 'string' || typeof value.type !== 'string') {
    return null
  }
  const options = isObject(value.options) ? value.options : {}
  const choices = Array.isArray(options.choices) ? options.choices : []
  return {
    id: String(value.id),
    title: value.title,
    type: value.type,
    choices: choices.flatMap((one) =>
      isObject(one) && typeof one.title === 'string' ? [one.title] : [],
    ),
    rawChoices: choices,
  }
}

/** The columns of a table. Throws NocoDbError. */
export async function parseColumns(
  client: Pick<NocoDbClient, 'ask'>,
  baseId: string,
  tableId: string,
): Promise<TableColumn[]> {
  const answer = await client.ask({
    method: 'GET',
    path: `/api/v3/meta/bases/${encodeURIComponent(baseId)}/tables/${encodeURIComponent(tableId)}`,
    urgency: 'background',
  })
  if (!isObject(answer) || !Array.isArray(answer.fields)) throw new NocoDbError('garbage')
  return answer.fields.map(columnOf).filter((column) => column !== null)
}

/** Whether a row, as it was read, has not all columns: what is written to such is dropped silently. */
export const hasMissingColumns = (row: object, titles: ColumnTitles): boolean =>
  COLUMN_FIELDS.some((field) => !Object.hasOwn(row, titles[field]))

function faultOf(field: ColumnField, column: TableColumn | undefined): string | null {
  const { type, alsoTypes = [], choices = [] } = COLUMNS[field]
  if (column === undefined) return 'is missing'
  if (column.type !== type && !alsoTypes.includes(column.type)) {
    return `is of type ${column.type}; it must be ${[type, ...alsoTypes].join(' or ')}`
  }
  if (column.type !== 'SingleSelect') return null
  const lacking = choices.filter((choice) => !column.choices.includes(choice))
  return lacking.length > 0 ? `lacks the options ${lacking.join(', ')}` : null
}

/** What keeps a table from holding orders. Pure. */
export const findSchemaMismatches = (
  columns: TableColumn[],
  titles: ColumnTitles,
): SchemaMismatch[] =>
  COLUMN_FIELDS.flatMap((field): SchemaMismatch[] => {
    const title = titles[field]
    const column = columns.find((one) => one.title === title)
    const fault = faultOf(field, column)
    return fault === null ? [] : [{ field, title, fault, isMissing: column === undefined }]
  })
