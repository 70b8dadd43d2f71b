import { join } from 'node:path'
import type { Test } from 'tap'
import type { Database } from '../../src/database/database.js'
import { migratePostgres } from '../../src/database/migrations.js'
import { openPostgres } from '../../src/database/postgres.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import { temporaryFolder } from './app.js'
import { startPostgres } from './postgres.js'

/** Opens an empty database with two connections, as two processes would have them. */
export type OpenPair = (t: Test) => Promise<readonly [Database, Database]>

/** Starts PostgreSQL; returns how to open a pair of connections to a new database, for each engine. */
export async function startDatabases(t: Test): Promise<Record<'SQLite' | 'PostgreSQL', OpenPair>> {
  const server = await startPostgres(t, { default_transaction_isolation: 'serializable' })

  function closeAfter(t: Test, pair: readonly [Database, Database]) {
    t.teardown(() => Promise.all(pair.map((database) => database.close())))
    return pair
  }

  return {
    SQLite: async (t) => {
      const path = join(temporaryFolder(t), 'orders.db')
      return closeAfter(t, [openSqliteDatabase(path), openSqliteDatabase(path)])
    },
    PostgreSQL: async (t) => {
      const url = await server.createDatabase()
      const first = openPostgres(url, { poolSize: 4 })
      await migratePostgres(first)
      return closeAfter(t, [first, openPostgres(url, { poolSize: 4 })])
    },
  }
}
