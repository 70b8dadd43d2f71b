import type { FastifyBaseLogger } from 'fastify'
import type { Config } from '../plugins/config.js'
import { openNocoDbOrders } from './nocodb/nocodb-orders.js'
import { openEmbeddedOrders, type OrderStore } from './order-store.js'

/** Orders where the configuration has them kept. Throws BookError. */
export function openOrderStore(config: Config, log: FastifyBaseLogger): OrderStore {
  const { DATA_DIR: dataDir, TIME_ZONE: timeZone, nocoDb } = config
  return nocoDb === null
    ? openEmbeddedOrders(dataDir, timeZone)
    : openNocoDbOrders({ settings: nocoDb, dataDir, timeZone, log })
}
