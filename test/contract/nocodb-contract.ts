import type { Test } from 'tap'
import type { TestNocoDb } from '../support/nocodb.js'
import { nocoDbMirrorContract } from './nocodb-mirror-contract.js'
import { nocoDbSetupContract } from './nocodb-setup-contract.js'
import { nocoDbSyncContract } from './nocodb-sync-contract.js'

/** Tests for orders in NocoDB, in addition to those for every order store. */
export function nocoDbContract(t: Test, nocoDb: TestNocoDb): void {
  nocoDbSyncContract(t, nocoDb)
  nocoDbMirrorContract(t, nocoDb)
  nocoDbSetupContract(t, nocoDb)
}
