import { isObject } from '../core/validation/formats.js'
import {
  COLUMN_FIELDS,
  parseTimestamp,
  toNumber,
  truncateToSecond,
  type Cells,
  type ColumnField,
  type ColumnTitles,
  type Row,
} from './columns.js'
import { NocoDbError, type NocoDbClient } from './nocodb-client.js'
import type { Priority } from './request-budget.js'
import {
  fetchColumns,
  findSchemaMismatches,
  hasMissingColumns,
  type SchemaMismatch,
} from './table-schema.js'

export interface Page {
  rows: Row[]
  isLast: boolean
  /** Rows on this page and the following pages */
  remaining: number
  /** When the page was requested, by the clock of the mirror */
  requestedAt: number
}

interface PageRequest {
  /** Only rows with higher ids than this */
  after: number
  /** A further condition */
  where?: string
  limit: number
  /** All columns by default */
  fields?: ColumnField[]
}

const SYSTEM_COLUMNS = ['Id', 'CreatedAt', 'UpdatedAt']

const invalidResponse = (): NocoDbError =>
  new NocoDbError('invalid_response', { isIndeterminate: true })

function parseId(value: unknown): number {
  const id = Number(value)
  if (!Number.isSafeInteger(id) || id < 1) throw invalidResponse()
  return id
}

function toRow(value: unknown): Row {
  if (!isObject(value)) throw invalidResponse()
  return { ...value, Id: parseId(value.Id) }
}

function toPage(response: unknown, requestedAt: number): Page {
  if (!isObject(response) || !Array.isArray(response.list) || !isObject(response.pageInfo)) {
    throw invalidResponse()
  }
  const { isLastPage, totalRows } = response.pageInfo
  const rows = response.list.map(toRow)
  return {
    rows,
    isLast: isLastPage === true || rows.length === 0,
    remaining: Math.max(Number(totalRows) || 0, rows.length),
    requestedAt,
  }
}

const formatSecond = (milliseconds: number): string =>
  truncateToSecond(new Date(milliseconds).toISOString())

const and = (...conditions: string[]): string => conditions.join('~and')

/** Sends requests to the orders table in NocoDB. Throws NocoDbError. */
export function createOrdersTable(
  client: Pick<NocoDbClient, 'request'>,
  {
    baseId,
    tableId,
    titles,
    now,
  }: { baseId: string; tableId: string; titles: ColumnTitles; now: () => Promise<number> },
) {
  const [base, table] = [encodeURIComponent(baseId), encodeURIComponent(tableId)]
  const records = `/api/v2/tables/${table}/records`

  const get = (path: string, query: Record<string, string>, priority: Priority) =>
    client.request({ method: 'GET', path, query, priority })

  async function getPage(
    { after, where, limit, fields = COLUMN_FIELDS }: PageRequest,
    priority: Priority = 'background',
  ): Promise<Page> {
    const requestedAt = await now()
    const query = {
      where: and(`(Id,gt,${after})`, ...(where === undefined ? [] : [`(${where})`])),
      sort: 'Id',
      limit: String(limit),
      fields: [...SYSTEM_COLUMNS, ...fields.map((field) => titles[field])].join(','),
    }
    return toPage(await get(records, query, priority), requestedAt)
  }

  async function getLatest(column: 'CreatedAt' | 'UpdatedAt'): Promise<number> {
    const query = {
      where: `(${column},notblank)`,
      sort: `-${column}`,
      limit: '1',
      fields: `Id,${column}`,
    }
    const { rows } = toPage(await get(records, query, 'background'), 0)
    return Date.parse(parseTimestamp(rows[0]?.[column]) ?? '1970-01-01')
  }

  /** Updates all rows that meet a condition; returns whether NocoDB reports any updated rows. */
  async function setWhere(where: string, cells: Cells, priority: Priority): Promise<boolean> {
    // Without a condition, NocoDB would update every row.
    if (where === '') throw new Error('Refusing an update without a condition')
    const response = await client.request({
      method: 'PATCH',
      path: `/api/v1/db/data/bulk/noco/${base}/${table}/all`,
      query: { where },
      body: cells,
      priority,
    })
    const count = isObject(response) ? response.count : response
    if (typeof count !== 'number') throw invalidResponse()
    return count > 0
  }

  return {
    /** The columns that prevent the table from holding orders. */
    findSchemaMismatches: async (): Promise<SchemaMismatch[]> =>
      findSchemaMismatches(await fetchColumns(client, baseId, tableId), titles),
    getPage,
    /**
     * When a row was last created or updated, in ms since 1970, by the clock of the database;
     * 0 if there are no rows.
     */
    getLastModified: async (): Promise<number> =>
      Math.max(await getLatest('CreatedAt'), await getLatest('UpdatedAt')),
    /**
     * A condition for rows that were created or updated at or after a time, in ms since 1970,
     * by the clock of the database.
     */
    modifiedSince(milliseconds: number): string {
      const from = formatSecond(milliseconds)
      return `(CreatedAt,gte,exactDate,${from})~or(UpdatedAt,gte,exactDate,${from})`
    },
    /** Counts rows with `after < id <= upTo`. */
    async count(after = 0, upTo?: number): Promise<number> {
      const where = and(`(Id,gt,${after})`, ...(upTo === undefined ? [] : [`(Id,lte,${upTo})`]))
      const response = await get(`${records}/count`, { where }, 'background')
      if (!isObject(response) || typeof response.count !== 'number') throw invalidResponse()
      return response.count
    },
    /** Reads rows by id; deleted rows are left out. */
    getRows: (ids: number[]): Promise<Page> =>
      getPage({ after: 0, where: `(Id,in,${ids.join(',')})`, limit: ids.length }),
    /** Reads the current row; `null` if it does not exist. */
    async getRow(id: number): Promise<Row | null> {
      try {
        const row = toRow(await get(`${records}/${id}`, {}, 'urgent'))
        if (hasMissingColumns(row, titles)) throw new NocoDbError('column_not_found')
        return row
      } catch (error) {
        if (error instanceof NocoDbError && error.errorCode === 'record_not_found') return null
        throw error
      }
    },
    /** Finds rows by token, oldest first. Tokens contain only letters, digits, `-` and `_`. */
    findByToken: (field: 'writeToken' | 'idempotencyKey', token: string): Promise<Page> =>
      getPage({ after: 0, where: `(${titles[field]},eq,${token})`, limit: 25 }, 'urgent'),
    /** Creates a row; returns its id. */
    async insert(cells: Cells): Promise<number> {
      const response = await client.request({
        method: 'POST',
        path: `/api/v3/data/${base}/${table}/records`,
        body: { fields: cells },
        priority: 'urgent',
      })
      if (!isObject(response) || !Array.isArray(response.records)) throw invalidResponse()
      const record: unknown = response.records[0]
      return parseId(isObject(record) ? record.id : undefined)
    },
    /**
     * Updates a row if its version and its time of update still match `row`; returns `false` on a
     * conflict. Confirm `true` by reading the write token, because NocoDB may report success to
     * several concurrent writers although only one of them has written.
     */
    async compareAndSet(row: Row, cells: Cells, priority: Priority = 'urgent'): Promise<boolean> {
      const version = row[titles.version] ?? ''
      const updatedAt = parseTimestamp(row.UpdatedAt)
      const conditions = [
        `(Id,eq,${row.Id})`,
        version === ''
          ? `(${titles.version},blank)`
          : `(${titles.version},eq,${toNumber(version)})`,
        ...(updatedAt === null
          ? ['(UpdatedAt,blank)']
          : [
              `(UpdatedAt,gte,exactDate,${truncateToSecond(updatedAt)})`,
              `(UpdatedAt,lt,exactDate,${formatSecond(Date.parse(updatedAt) + 1000)})`,
            ]),
      ]
      return setWhere(and(...conditions), cells, priority)
    },
    /** Updates a row if Clearwake's last write to it has this token. */
    setIfToken: (id: number, token: string, cells: Cells): Promise<boolean> =>
      setWhere(and(`(Id,eq,${id})`, `(${titles.writeToken},eq,${token})`), cells, 'urgent'),
    async delete(id: number): Promise<void> {
      await client.request({
        method: 'DELETE',
        path: records,
        body: [{ Id: id }],
        priority: 'urgent',
      })
    },
  }
}

export type OrdersTable = ReturnType<typeof createOrdersTable>
