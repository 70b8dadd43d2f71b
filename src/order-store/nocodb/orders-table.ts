import { isObject } from '../../validation/is-object.js'
import { COLUMN_FIELDS, type ColumnField, type ColumnTitles } from './columns.js'
import type { NocoDbClient, NocoDbRequest } from './nocodb-client.js'
import { NocoDbError } from './nocodb-error.js'
import type { Priority } from './request-budget.js'
import { parseTimestamp } from './cell-codec.js'
import type { Row } from './parse-row.js'
import { hasMissingColumns } from './schema-check.js'

/** Cells by the titles of their columns. */
export type Cells = Record<string, unknown>

export interface Page {
  rows: Row[]
  isLast: boolean
  /** Rows on this page and those that follow */
  remaining: number
  /** When it was asked for, on this process's own clock */
  askedAt: number
}

interface PageRequest {
  /** Rows with higher ids than this */
  after: number
  /** A condition that they meet */
  where?: string
  limit: number
  /** All that an order needs unless given */
  fields?: ColumnField[]
}

const garbage = (): NocoDbError => new NocoDbError('garbage', { mayBeDone: true })

function rowOf(value: unknown): Row {
  if (!isObject(value)) throw garbage()
  const id = Number(value.Id)
  if (!Number.isSafeInteger(id) || id < 1) throw garbage()
  return { ...value, Id: id }
}

function pageOf(answer: unknown, askedAt: number): Page {
  if (!isObject(answer) || !Array.isArray(answer.list) || !isObject(answer.pageInfo)) {
    throw garbage()
  }
  const { isLastPage, totalRows } = answer.pageInfo
  const rows = answer.list.map(rowOf)
  return {
    rows,
    isLast: isLastPage === true || rows.length === 0,
    remaining: Math.max(Number(totalRows) || 0, rows.length),
    askedAt,
  }
}

/** A moment of the server's, by the second, as conditions take it. */
const second = (milliseconds: number): string =>
  `${new Date(Math.floor(milliseconds / 1000) * 1000).toISOString().slice(0, 19)}Z`

const and = (...conditions: string[]): string => conditions.join('~and')

/** The table of orders in NocoDB. Everything throws NocoDbError. */
export function createOrdersTable(
  client: Pick<NocoDbClient, 'ask'>,
  { baseId, tableId, titles }: { baseId: string; tableId: string; titles: ColumnTitles },
) {
  const [base, table] = [encodeURIComponent(baseId), encodeURIComponent(tableId)]
  const records = `/api/v2/tables/${table}/records`
  const allFields = COLUMN_FIELDS.map((field) => titles[field])
  const system = ['Id', 'CreatedAt', 'UpdatedAt']

  const get = (path: string, query: Record<string, string>, urgency: Priority) =>
    client.ask({ method: 'GET', path, query, urgency })

  async function page(request: PageRequest, urgency: Priority = 'background'): Promise<Page> {
    const { after, where, limit, fields } = request
    const columns = fields === undefined ? allFields : fields.map((field) => titles[field])
    const beyond = `(Id,gt,${after})`
    const askedAt = performance.now()
    const answer = await get(
      records,
      {
        where: where === undefined ? beyond : and(beyond, `(${where})`),
        sort: 'Id',
        limit: String(limit),
        fields: [...system, ...columns].join(','),
      },
      urgency,
    )
    return pageOf(answer, askedAt)
  }

  async function latest(column: 'CreatedAt' | 'UpdatedAt'): Promise<number> {
    const query = {
      where: `(${column},notblank)`,
      sort: `-${column}`,
      limit: '1',
      fields: `Id,${column}`,
    }
    const { rows } = pageOf(await get(records, query, 'background'), 0)
    const moment = parseTimestamp(rows[0]?.[column])
    return moment === null ? 0 : Date.parse(moment)
  }

  return {
    page,
    /** When a row was last entered or changed, by the server's clock, ms since 1970. */
    lastTouch: async (): Promise<number> =>
      Math.max(await latest('CreatedAt'), await latest('UpdatedAt')),
    /** Rows entered or changed from a moment of the server's on. */
    touchedSince: (milliseconds: number): string => {
      const from = second(milliseconds)
      return `(CreatedAt,gte,exactDate,${from})~or(UpdatedAt,gte,exactDate,${from})`
    },
    /** How many rows there are with ids above one and up to another. */
    async count(after = 0, upTo?: number): Promise<number> {
      const where = and(`(Id,gt,${after})`, ...(upTo === undefined ? [] : [`(Id,lte,${upTo})`]))
      const answer = await get(`${records}/count`, { where }, 'background')
      if (!isObject(answer) || !Number.isSafeInteger(answer.count)) throw garbage()
      return answer.count as number
    },
    /** Whole rows by their ids; those that are gone are left out. */
    async rows(ids: number[]): Promise<Page> {
      return page({ after: 0, where: `(Id,in,${ids.join(',')})`, limit: ids.length })
    },
    /** A row as it is now; `null` where there is none. */
    async row(id: number): Promise<{ row: Row; askedAt: number } | null> {
      const askedAt = performance.now()
      try {
        const row = rowOf(await get(`${records}/${id}`, {}, 'urgent'))
        // What is written to a column that is gone is dropped without a word.
        if (hasMissingColumns(row, titles)) throw new NocoDbError('no such column')
        return { row, askedAt }
      } catch (error) {
        if (error instanceof NocoDbError && error.trouble === 'no such record') return null
        throw error
      }
    },
    /** The rows whose mark is this, oldest first. Marks have letters, digits, `-` and `_` only. */
    marked: (field: 'writeToken' | 'idempotencyKey', mark: string): Promise<Page> =>
      page({ after: 0, where: `(${titles[field]},eq,${mark})`, limit: 25 }, 'urgent'),
    /** Enters a row; tells its id. */
    async insert(cells: Cells): Promise<number> {
      const answer = await client.ask({
        method: 'POST',
        path: `/api/v3/data/${base}/${table}/records`,
        body: { fields: cells },
        urgency: 'urgent',
      })
      const records: unknown[] =
        isObject(answer) && Array.isArray(answer.records) ? answer.records : []
      const [record] = records
      const id = isObject(record) ? Number(record.id) : NaN
      if (!Number.isSafeInteger(id) || id < 1) throw garbage()
      return id
    },
    /**
     * Writes cells of a row, provided that it has still the version and the time of its last
     * update that it was read with. `false` where it has not; `true` proves nothing: of several
     * that ask at once, more than one may hear it.
     */
    async compareAndSet(row: Row, cells: Cells, urgency: Priority = 'urgent'): Promise<boolean> {
      const version = row[titles.version]
      const updated = parseTimestamp(row.UpdatedAt)
      const conditions = [
        `(Id,eq,${row.Id})`,
        version === null || version === undefined || version === ''
          ? `(${titles.version},blank)`
          : `(${titles.version},eq,${Number(version)})`,
        ...(updated === null
          ? ['(UpdatedAt,blank)']
          : [
              `(UpdatedAt,gte,exactDate,${second(Date.parse(updated))})`,
              `(UpdatedAt,lt,exactDate,${second(Date.parse(updated) + 1000)})`,
            ]),
      ]
      return setWhere(and(...conditions), cells, urgency)
    },
    /** Writes cells of a row, provided that its last write from here had this token. */
    setAfter: (id: number, token: string, cells: Cells): Promise<boolean> =>
      setWhere(and(`(Id,eq,${id})`, `(${titles.writeToken},eq,${token})`), cells, 'urgent'),
    /** Takes a row out for good. */
    async remove(id: number): Promise<void> {
      await client.ask({ method: 'DELETE', path: records, body: [{ Id: id }], urgency: 'urgent' })
    },
  }

  async function setWhere(where: string, cells: Cells, urgency: Priority): Promise<boolean> {
    // Without a condition, every row would be written.
    if (where === '') throw new Error('a write without a condition')
    const question: NocoDbRequest = {
      method: 'PATCH',
      path: `/api/v1/db/data/bulk/noco/${base}/${table}/all`,
      query: { where },
      body: cells,
      urgency,
    }
    const answer = await client.ask(question)
    const count = isObject(answer) ? answer.count : answer
    if (typeof count !== 'number') throw garbage()
    return count > 0
  }
}

export type OrdersTable = ReturnType<typeof createOrdersTable>
