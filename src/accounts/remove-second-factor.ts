import type { FastifyInstance, FastifyRequest } from 'fastify'
import { getAuditActor } from '../audit/audit-log.js'
import { getChangedAccount } from './account-problems.js'
import type { ManagedAccount } from './account-store.js'

/** Removes the second factors of another account, and notifies its user. Throws a Problem. */
export async function removeSecondFactor(
  app: FastifyInstance,
  request: FastifyRequest,
  id: string,
): Promise<ManagedAccount> {
  const before = await app.accounts.get(id)
  const result = await app.accounts.removeSecondFactor(id, getAuditActor(request))
  const account = getChangedAccount(result)
  request.log.info({ account: id, by: request.actor }, 'second factor removed')
  if (before?.hasSecondFactor) {
    await app.notifyUser(request, account.email, 'second_factor.removed')
  }
  return account
}
