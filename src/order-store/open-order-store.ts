import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../plugins/config.js'
import { openNocoDbOrderStore } from './nocodb/nocodb-order-store.js'
import type { OrderStore } from './order-store.js'
import { getOrderStorePath, openSqliteOrderStore } from './sqlite/sqlite-order-store.js'

/** Opens the configured order store. Throws DatabaseError. */
export function openOrderStore(config: Config, log: FastifyBaseLogger): OrderStore {
  const { DATA_DIR: dataDir, TIME_ZONE: timeZone, nocoDb } = config
  return nocoDb === null
    ? openSqliteOrderStore({ path: getOrderStorePath(dataDir), timeZone })
    : openNocoDbOrderStore({ settings: nocoDb, dataDir, timeZone, log })
}
