import { Problem } from '../core/http/problem.js'
import type { AccountChangeResult, ManagedAccount } from './account-store.js'

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
export function getChangedAccount(result: AccountChangeResult): ManagedAccount {
  if (result.outcome === 'changed') return result.account
  throw PROBLEMS[result.outcome]
}

/** 409: the email already has an account. */
export const createDuplicateProblem = (email: string): Problem =>
  new Problem(409, `${email} already has an account.`)
