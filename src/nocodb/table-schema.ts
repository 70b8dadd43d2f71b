import { isObject } from '../core/validation/formats.js'
import { COLUMN_FIELDS, COLUMNS, type ColumnField, type ColumnTitles, type Row } from './columns.js'
import { NocoDbError, type NocoDbClient, type NocoDbRequest } from './nocodb-client.js'

/** A column of the NocoDB table. */
interface TableColumn {
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
const findMissingChoices = (field: ColumnField, column: TableColumn): string[] =>
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

const TABLE_TITLE = 'Clearwake orders'

interface Options {
  client: Pick<NocoDbClient, 'request'>
  baseId: string
  /** If empty, the table is found by its title, or created */
  tableId: string
  titles: ColumnTitles
  /** Called with a sentence after each change */
  onProgress: (message: string) => void
}

interface TableSetup {
  tableId: string
  /** Columns that must be changed manually */
  mismatches: SchemaMismatch[]
}

function describeField(field: ColumnField, titles: ColumnTitles): Record<string, unknown> {
  const { nocoDbType, choices, options, isUnique } = COLUMNS[field]
  return {
    title: titles[field],
    type: nocoDbType,
    ...(choices ? { options: { choices: choices.map((title) => ({ title })) } } : {}),
    ...(options ? { options } : {}),
    ...(isUnique === true ? { unique: true } : {}),
  }
}

/**
 * Creates the orders table, or adds missing columns and options to an existing table. Columns of
 * the wrong type are left unchanged. Idempotent. Throws NocoDbError.
 */
export async function setUpTable(options: Options): Promise<TableSetup> {
  const { client, baseId, titles, onProgress } = options
  const meta = `/api/v3/meta/bases/${encodeURIComponent(baseId)}`
  const request = (method: NocoDbRequest['method'], path: string, body?: unknown) =>
    client.request({ method, path: meta + path, body, priority: 'background' })

  async function findTable(): Promise<string | null> {
    const response = await request('GET', '/tables')
    if (!isObject(response) || !Array.isArray(response.list)) {
      throw new NocoDbError('invalid_response')
    }
    const table: unknown = response.list.find((one) => isObject(one) && one.title === TABLE_TITLE)
    return isObject(table) && typeof table.id === 'string' ? table.id : null
  }

  async function createTable(): Promise<string> {
    const fields = COLUMN_FIELDS.map((field) => describeField(field, titles))
    const response = await request('POST', '/tables', { title: TABLE_TITLE, fields })
    if (!isObject(response) || typeof response.id !== 'string') {
      throw new NocoDbError('invalid_response')
    }
    onProgress(`Created the table "${TABLE_TITLE}" with ${fields.length} columns.`)
    return response.id
  }

  async function addColumn(tableId: string, field: ColumnField): Promise<void> {
    const path = `/tables/${encodeURIComponent(tableId)}/fields`
    await request('POST', path, describeField(field, titles))
    onProgress(`Added the column ${titles[field]} (${COLUMNS[field].nocoDbType}).`)
  }

  async function addChoices(field: ColumnField, column: TableColumn): Promise<void> {
    const missing = findMissingChoices(field, column)
    if (missing.length === 0) return
    const choices = [...column.rawChoices, ...missing.map((title) => ({ title }))]
    const body = { title: column.title, type: 'SingleSelect', options: { choices } }
    await request('PATCH', `/fields/${encodeURIComponent(column.id)}`, body)
    onProgress(`Added the options ${missing.join(', ')} to the column ${column.title}.`)
  }

  const tableId = options.tableId || ((await findTable()) ?? (await createTable()))
  const columns = await fetchColumns(client, baseId, tableId)
  for (const { field, title } of findSchemaMismatches(columns, titles)) {
    const column = columns.find((one) => one.title === title)
    await (column === undefined ? addColumn(tableId, field) : addChoices(field, column))
  }
  const fixed = await fetchColumns(client, baseId, tableId)
  return { tableId, mismatches: findSchemaMismatches(fixed, titles) }
}
