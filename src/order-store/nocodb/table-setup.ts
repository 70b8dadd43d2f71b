import { isObject } from '../../validation/is-object.js'
import { COLUMN_FIELDS, COLUMNS, type ColumnField, type ColumnTitles } from './columns.js'
import type { NocoDbClient, NocoDbRequest } from './nocodb-client.js'
import { NocoDbError } from './nocodb-error.js'
import {
  findSchemaMismatches,
  parseColumns,
  type SchemaMismatch,
  type TableColumn,
} from './schema-check.js'

/** What the table is called where it is made here. */
const TABLE_TITLE = 'Clearwake orders'

interface Options {
  client: Pick<NocoDbClient, 'ask'>
  baseId: string
  /** Empty where one is to be made */
  tableId: string
  titles: ColumnTitles
  /** Is told what is done, in words */
  tell: (what: string) => void
}

export interface TableSetup {
  tableId: string
  /** Columns that do not do and cannot be mended from here */
  misfits: SchemaMismatch[]
}

function fieldOf(field: ColumnField, titles: ColumnTitles): Record<string, unknown> {
  const { type, choices, options, isUnique } = COLUMNS[field]
  return {
    title: titles[field],
    type,
    ...(choices ? { options: { choices: choices.map((title) => ({ title })) } } : {}),
    ...(options ? { options } : {}),
    ...(isUnique === true ? { unique: true } : {}),
  }
}

/**
 * Makes the table of orders, or adds what an existing one lacks. Columns of a wrong type stay as
 * they are. Again changes nothing. Throws NocoDbError.
 */
export async function setUpTable(options: Options): Promise<TableSetup> {
  const { client, baseId, titles, tell } = options
  const meta = `/api/v3/meta/bases/${encodeURIComponent(baseId)}`
  const ask = (method: NocoDbRequest['method'], path: string, body?: unknown) =>
    client.ask({ method, path: meta + path, body, urgency: 'background' })

  async function existing(): Promise<string | null> {
    const answer = await ask('GET', '/tables')
    if (!isObject(answer) || !Array.isArray(answer.list)) throw new NocoDbError('garbage')
    const table = answer.list.find((one) => isObject(one) && one.title === TABLE_TITLE) as unknown
    return isObject(table) && typeof table.id === 'string' ? table.id : null
  }

  async function create(): Promise<string> {
    const fields = COLUMN_FIELDS.map((field) => fieldOf(field, titles))
    const answer = await ask('POST', '/tables', { title: TABLE_TITLE, fields })
    if (!isObject(answer) || typeof answer.id !== 'string') throw new NocoDbError('garbage')
    tell(`Made the table "${TABLE_TITLE}" with ${fields.length} columns.`)
    return answer.id
  }

  async function mend(
    tableId: string,
    columns: TableColumn[],
    misfit: SchemaMismatch,
  ): Promise<void> {
    const { field, title } = misfit
    if (misfit.isMissing) {
      await ask('POST', `/tables/${encodeURIComponent(tableId)}/fields`, fieldOf(field, titles))
      tell(`Added the column ${title} (${COLUMNS[field].type}).`)
      return
    }
    const column = columns.find((one) => one.title === title)
    const lacking = (COLUMNS[field].choices ?? []).filter(
      (choice) => !column?.choices.includes(choice),
    )
    if (column?.type !== 'SingleSelect' || lacking.length === 0) return
    const choices = [...column.rawChoices, ...lacking.map((choice) => ({ title: choice }))]
    const body = { title, type: 'SingleSelect', options: { choices } }
    await ask('PATCH', `/fields/${encodeURIComponent(column.id)}`, body)
    tell(`Added the options ${lacking.join(', ')} to the column ${title}.`)
  }

  const named = options.tableId === '' ? await existing() : options.tableId
  const tableId = named ?? (await create())
  const columns = await parseColumns(client, baseId, tableId)
  for (const misfit of findSchemaMismatches(columns, titles)) await mend(tableId, columns, misfit)
  return {
    tableId,
    misfits: findSchemaMismatches(await parseColumns(client, baseId, tableId), titles),
  }
}
