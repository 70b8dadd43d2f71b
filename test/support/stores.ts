import type { Database } from '../../src/database/database.js'
import { openSqliteDatabase } from '../../src/database/sqlite-database.js'
import { openOrderStore } from '../../src/orders/store/open-order-store.js'
import type { OrderStore } from '../../src/orders/store/order-store.js'

const log = { error: () => undefined }

/** Opens an order store in a file, which is closed with the store. */
export async function openFileStore({
  path,
  timeZone,
}: {
  path: string
  timeZone: string
}): Promise<OrderStore> {
  const database = openSqliteDatabase(path)
  const source = { type: 'sqlite', path } as const
  const store = await openOrderStore({ database, source, timeZone, log })
  return { ...store, close: () => database.close() }
}

/** Opens the order store of a PostgreSQL database, which stays open. */
export const openPostgresStore = (
  database: Database,
  url: string,
  timeZone = 'UTC',
): Promise<OrderStore> =>
  openOrderStore({ database, source: { type: 'postgres', url }, timeZone, log })
