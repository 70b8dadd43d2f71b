import type { FastifyRequest } from 'fastify'
import { getAuditActor } from '../audit/audit-log.js'
import { Problem } from '../core/http/problem.js'
import { getLinkPath } from './account-links.js'
import type { AccountChanges, ManagedAccount, NewAccount } from './account-schemas.js'
import type { AccountChangeResult } from './account-store.js'

/* What owners can do with the accounts of others, through the API and on the pages. */

const PROBLEMS = {
  not_found: new Problem(404, 'Account not found.'),
  configured: new Problem(
    409,
    'This account is listed in ADMIN_ACCOUNTS. Change it in the configuration of the service. To remove its second factor, run npm run -s second-factor:remove.',
  ),
  own_account: new Problem(
    409,
    'You cannot change your own account here. Ask another owner, or use the Account page.',
  ),
}

/** Returns the changed account; throws a Problem (404 or 409) if it was not changed. */
function getChangedAccount(result: AccountChangeResult): ManagedAccount {
  if (result.outcome === 'changed') return result.account
  throw PROBLEMS[result.outcome]
}

/** 409: the email already has an account. */
export const createDuplicateProblem = (email: string): Problem =>
  new Problem(409, `${email} already has an account.`)

/**
 * Creates an account, and emails its invitation if emails are configured; `null` if the email
 * already has an account.
 */
export async function inviteAccount(
  request: FastifyRequest,
  account: NewAccount,
): Promise<{ account: ManagedAccount; inviteUrl: string } | null> {
  const { server: app, log, actor } = request
  const created = await app.accounts.invite(account, getAuditActor(request), (tx, { id }) =>
    app.accountMail.enqueue(tx, 'invitation', id),
  )
  if (created === null) return null
  log.info({ account: created.account.id, by: actor }, 'account invited')
  const inviteUrl = app.publicBaseUrl() + getLinkPath('invitation', created.token)
  return { account: created.account, inviteUrl }
}

/** Changes the role of an account, or disables or enables it. Throws a Problem. */
export async function changeAccount(
  request: FastifyRequest,
  id: string,
  changes: AccountChanges,
): Promise<ManagedAccount> {
  const result = await request.server.accounts.update(id, changes, getAuditActor(request))
  const account = getChangedAccount(result)
  request.log.info({ account: id, ...changes, by: request.actor }, 'account changed')
  return account
}

/** Throws a Problem. */
export async function deleteAccount(request: FastifyRequest, id: string): Promise<void> {
  getChangedAccount(await request.server.accounts.remove(id, getAuditActor(request)))
  request.log.info({ account: id, by: request.actor }, 'account deleted')
}

/** Removes the second factors of an account, and notifies its user. Throws a Problem. */
export async function removeSecondFactor(
  request: FastifyRequest,
  id: string,
): Promise<ManagedAccount> {
  const { server: app, log, actor } = request
  const before = await app.accounts.get(id)
  const result = await app.accounts.removeSecondFactor(id, getAuditActor(request))
  const account = getChangedAccount(result)
  log.info({ account: id, by: actor }, 'second factor removed')
  if (before?.hasSecondFactor) {
    await app.notifyUser(request, account.email, 'second_factor.removed')
  }
  return account
}
