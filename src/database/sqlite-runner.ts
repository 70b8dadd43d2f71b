import type { Database as Connection, Statement } from 'better-sqlite3'
import type { SqlValue } from './database.js'

/** Runs jobs one after the other. */
export function createSequence() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(job: () => Promise<T>): Promise<T> => {
    const result = last.then(job, job)
    last = result.catch(() => undefined)
    return result
  }
}

/** Limits the memory for statements, because a query with a list has a text for each length. */
const MAX_STATEMENTS = 500

/** Runs statements on a connection; prepares each statement once. */
export function createRunner(connection: Connection) {
  const statements = new Map<string, Statement>()

  function prepare(sql: string): Statement {
    const known = statements.get(sql)
    if (known !== undefined) return known
    if (statements.size >= MAX_STATEMENTS) statements.clear()
    const statement = connection.prepare(sql)
    statements.set(sql, statement)
    return statement
  }

  return {
    isReadOnly: (sql: string): boolean => prepare(sql).readonly,
    async query<Row>(sql: string, values: readonly SqlValue[] = []): Promise<Row[]> {
      const statement = prepare(sql)
      const parameters = values.map((value) => (typeof value === 'boolean' ? Number(value) : value))
      if (statement.reader) return statement.all(...parameters) as Row[]
      statement.run(...parameters)
      return []
    },
  }
}
