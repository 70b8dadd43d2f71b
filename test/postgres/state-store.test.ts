import t from 'tap'
import { migratePostgres } from '../../src/database/migrations.js'
import { openPostgres } from '../../src/database/postgres.js'
import { openPostgresStore } from '../../src/database/state-store/state-store.js'
import { testStateStore } from '../contract/state-store-contract.js'
import { startPostgres } from '../support/postgres.js'

const server = await startPostgres(t, { default_transaction_isolation: 'serializable' })
const postgres = openPostgres(await server.createDatabase(), { poolSize: 8 })
await migratePostgres(postgres)
const store = openPostgresStore(postgres)
t.teardown(() => postgres.close())

testStateStore(t, store)
