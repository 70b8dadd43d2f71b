import type { OrderSource, RowQuery } from './order-store.js'
import type { ReadRow } from './sql/order-row.js'

/** Rows of orders, in batches. */
export type RowBatches = Iterable<ReadRow[]> | AsyncIterable<ReadRow[]>

/**
 * Reads all matching orders as a consistent snapshot, through a separate connection. Only one batch
 * is in memory at a time.
 */
export async function* readOrderRows({
  source,
  ...options
}: RowQuery & { source: OrderSource }): AsyncGenerator<ReadRow[]> {
  if (source.type === 'sqlite') {
    const { readSqliteRows } = await import('./sqlite/read-order-rows.js')
    yield* readSqliteRows(source.path, options)
  } else {
    const { readPostgresRows } = await import('./postgres/read-order-rows.js')
    yield* readPostgresRows(source.url, options)
  }
}
