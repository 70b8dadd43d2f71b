import t from 'tap'
import { crashContract } from '../contract/crash-contract.js'
import { nocoDbContract } from '../contract/nocodb-contract.js'
import { ordersContract } from '../contract/order-store-contract.js'
import { outageContract } from '../contract/outage-contract.js'
import { startNocoDb } from '../support/nocodb.js'
import { startPostgres, toNocoDbUrl } from '../support/postgres.js'

const nocoDb = await startNocoDb(t, toNocoDbUrl(await startPostgres(t)))

ordersContract(t, { createEnvironment: async () => (await nocoDb.createBase()).environment })
nocoDbContract(t, nocoDb)
// Outages do not depend on the database of NocoDB, and the tests are slow.
if (process.env.NOCODB_TESTS !== 'short') {
  outageContract(t, nocoDb)
  crashContract(t, nocoDb)
}
