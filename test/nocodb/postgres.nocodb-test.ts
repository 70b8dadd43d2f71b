import t from 'tap'
import { nocoDbContract } from '../contract/nocodb-contract.js'
import { ordersContract } from '../contract/order-store-contract.js'
import { outageContract } from '../contract/outage-contract.js'
import { startNocoDb } from '../support/nocodb.js'
import { startPostgres } from '../support/postgres.js'

const nocoDb = await startNocoDb(t, await startPostgres(t))

ordersContract(t, { createEnvironment: async () => (await nocoDb.ordersBase()).environment })
nocoDbContract(t, nocoDb)
// What outages do does not depend on the database behind NocoDB, and takes long.
if (process.env.NOCODB_TESTS !== 'short') outageContract(t, nocoDb)
