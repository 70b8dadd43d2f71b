import type { Queryable, SqlValue } from './database.js'

/** Limits the parameters of a statement. */
const ROWS_PER_STATEMENT = 500

interface Clauses {
  /** Before VALUES, such as `OVERRIDING SYSTEM VALUE` */
  before?: string
  /** After the rows, such as `ON CONFLICT …` */
  after?: string
}

/** Inserts rows into columns of a table. */
export async function insertRows<Name extends string>(
  tx: Queryable,
  table: string,
  columns: readonly Name[],
  rows: readonly Readonly<Record<Name, SqlValue>>[],
  { before = '', after = '' }: Clauses = {},
): Promise<void> {
  const placeholders = `(${columns.map(() => '?').join(', ')})`
  for (let start = 0; start < rows.length; start += ROWS_PER_STATEMENT) {
    const part = rows.slice(start, start + ROWS_PER_STATEMENT)
    await tx.query(
      `INSERT INTO ${table} (${columns.join(', ')}) ${before}
       VALUES ${part.map(() => placeholders).join(', ')} ${after}`,
      part.flatMap((row) => columns.map((name) => row[name])),
    )
  }
}

/** Inserts a row whose properties are named as the columns. */
export const insertRow = <Row extends Readonly<Record<keyof Row, SqlValue>>>(
  tx: Queryable,
  table: string,
  row: Row,
): Promise<void> => {
  const columns = Object.keys(row) as (keyof Row & string)[]
  return insertRows(tx, table, columns, [row])
}
