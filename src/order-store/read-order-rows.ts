import type { OrderFilters, OrderSort } from '../orders/order-filters.js'
import type { OrderSource } from './order-store.js'
import type { ReadRow } from './sql/order-row.js'

export interface ReadRowsOptions {
  /** Time zone of the date filters */
  timeZone: string
  filters: OrderFilters
  sort: OrderSort
}

/** Rows of orders, in batches. */
export type RowBatches = Iterable<ReadRow[]> | AsyncIterable<ReadRow[]>

/**
 * Reads all matching orders with a connection of its own: a consistent snapshot, of which only a
 * batch is in memory.
 */
export async function* readOrderRows({
  source,
  ...options
}: ReadRowsOptions & { source: OrderSource }): AsyncGenerator<ReadRow[]> {
  if (source.type === 'sqlite') {
    const { readSqliteRows } = await import('./sqlite/read-order-rows.js')
    yield* readSqliteRows(source.path, options)
  } else {
    const { readPostgresRows } = await import('./postgres/read-order-rows.js')
    yield* readPostgresRows(source.url, options)
  }
}
