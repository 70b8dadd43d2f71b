import type { SqlValue } from './database.js'
import { openReadOnly } from './open-database.js'
import { openPostgresCursor } from './postgres.js'

/** A database that can be read through a separate connection, such as that of another thread. */
export type DatabaseSource = { type: 'sqlite'; path: string } | { type: 'postgres'; url: string }

const BATCH_SIZE = 250

/** Reads the rows of a query in batches, through a connection of its own. */
export async function* streamRows<Row>(
  source: DatabaseSource,
  query: { sql: string; values: readonly SqlValue[] },
): AsyncGenerator<Row[]> {
  if (source.type === 'postgres') {
    yield* openPostgresCursor<Row>(source.url, query, BATCH_SIZE)
    return
  }
  const db = openReadOnly(source.path)
  try {
    const rows = db.prepare<SqlValue[], Row>(query.sql).iterate(...query.values)
    let batch: Row[] = []
    for (const row of rows) {
      batch.push(row)
      if (batch.length < BATCH_SIZE) continue
      yield batch
      batch = []
    }
    if (batch.length > 0) yield batch
  } finally {
    db.close()
  }
}
