import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../plugins/config.js'
import { openNocoDbOrderStore } from './nocodb/nocodb-order-store.js'
import { openSqliteOrderStore, type OrderStore } from './order-store.js'

/** Orders where the configuration has them kept. Throws DatabaseError. */
export function openOrderStore(config: Config, log: FastifyBaseLogger): OrderStore {
  const { DATA_DIR: dataDir, TIME_ZONE: timeZone, nocoDb } = config
  return nocoDb === null
    ? openSqliteOrderStore(dataDir, timeZone)
    : openNocoDbOrderStore({ settings: nocoDb, dataDir, timeZone, log })
}
