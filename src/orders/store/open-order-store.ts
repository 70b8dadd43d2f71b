import type { FastifyBaseLogger } from 'fastify'
import type { Database } from '../../database/database.js'
import type { Config } from '../../core/config/config.js'
import { openDatabaseOrderStore } from './database-order-store.js'
import type { OrderDatabase, OrderStore } from './order-store.js'
import { getDatabasePath } from '../../database/database-path.js'
import { Problem } from '../../core/http/problem.js'

const REASON = 'Orders are read-only for maintenance'

/** An order store that rejects changes, so that its orders can be copied while the service runs. */
export function toReadOnlyStore(store: OrderStore): OrderStore {
  const reject = async (): Promise<never> => {
    throw new Problem(503, `${REASON}. Nothing was changed. Try again later.`, {
      headers: { 'retry-after': '60' },
    })
  }
  return {
    ...store,
    create: reject,
    apply: reject,
    getFreshness() {
      const { asOf, problem } = store.getFreshness() ?? {
        asOf: new Date().toISOString(),
        problem: null,
      }
      return { asOf, problem: problem ?? REASON, isWritable: false }
    },
  }
}

/** The database of the service, for connections from other threads. */
const getServiceSource = ({ DATABASE_URL: url, DATA_DIR }: Config): OrderDatabase =>
  url === undefined
    ? { type: 'sqlite', path: getDatabasePath(DATA_DIR) }
    : { type: 'postgres', url }

/** Opens the orders in the database of the service. Throws DatabaseError. */
export const openOrderStore = (
  config: Config,
  database: Database,
  log: FastifyBaseLogger,
): Promise<OrderStore> =>
  openDatabaseOrderStore({
    database,
    source: getServiceSource(config),
    timeZone: config.TIME_ZONE,
    log,
  })
