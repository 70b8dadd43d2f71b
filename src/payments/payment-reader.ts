import type { Queryable } from '../database/database.js'
import { openReadOnly } from '../database/open-database.js'
import { openPostgres } from '../database/postgres.js'
import type { DatabaseSource } from '../database/stream-rows.js'
import { findLatestPayments } from './payment-store.js'
import type { Payment } from './payment.js'

/** Reads payments through a separate connection, for exports that run in another thread. */
export function openPaymentReader(source: DatabaseSource): {
  find: (orderIds: readonly string[]) => Promise<Map<string, Payment>>
  close: () => Promise<void>
} {
  if (source.type === 'postgres') {
    const postgres = openPostgres(source.url, { poolSize: 1 })
    return { find: (ids) => findLatestPayments(postgres, ids), close: () => postgres.close() }
  }
  const db = openReadOnly(source.path)
  const queryable: Queryable = {
    query: async <Row>(sql: string, values: Parameters<Queryable['query']>[1] = []) =>
      db.prepare(sql).all(...values) as Row[],
  }
  return {
    find: (ids) => findLatestPayments(queryable, ids),
    close: async () => void db.close(),
  }
}
