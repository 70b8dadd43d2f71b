import { isObject } from '../core/validation/is-object.js'
import { COLUMN_FIELDS, COLUMNS, type ColumnField, type ColumnTitles } from './columns.js'
import type { NocoDbClient, NocoDbRequest } from './nocodb-client.js'
import { NocoDbError } from './nocodb-error.js'
import {
  fetchColumns,
  findMissingChoices,
  findSchemaMismatches,
  type SchemaMismatch,
  type TableColumn,
} from './schema-check.js'

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
