import t from 'tap'
import { crashContract } from '../contract/crash-contract.js'
import { nocoDbContract } from '../contract/nocodb-contract.js'
import { ordersContract } from '../contract/order-store-contract.js'
import { outageContract } from '../contract/outage-contract.js'
import { portalContract } from '../contract/portal-contract.js'
import { startNocoDb } from '../support/nocodb.js'

const nocoDb = await startNocoDb(t)

ordersContract(t, { createEnvironment: async () => (await nocoDb.createBase()).environment })
nocoDbContract(t, nocoDb)
outageContract(t, nocoDb)
crashContract(t, nocoDb)
portalContract(t, nocoDb)
