import type { FastifyInstance } from 'fastify'
import type { Account } from './account-store.js'
import type { HashIdentifier } from '../core/config/signer.js'
import { createUnmatchableHash, verifyPassword } from './password.js'
import type { PasswordHashQueue } from './password-hash-queue.js'

/** Returns the account that an email and a password belong to, or `null`. */
type PasswordCheck = (email: string, password: string) => Promise<Account | null>

/**
 * Checks passwords. For an unknown email, the check takes as long as for a known email, because the
 * password is verified against a hash that no password matches. The hash has the cost parameters of
 * a real account.
 */
export function createPasswordCheck(
  { accounts, configuredAccounts }: Pick<FastifyInstance, 'accounts' | 'configuredAccounts'>,
  hashIdentifier: HashIdentifier,
  queue: PasswordHashQueue,
): PasswordCheck {
  const unmatchable = [
    createUnmatchableHash(),
    ...configuredAccounts.map(({ passwordHash }) => createUnmatchableHash(passwordHash)),
  ]

  // An email always gets the same hash, so that the time of its check does not vary either.
  function pickUnmatchableHash(email: string): string {
    const index = Buffer.from(hashIdentifier('nothing', email), 'base64url').readUInt32BE()
    return unmatchable[index % unmatchable.length] ?? ''
  }

  return async (email, password) => {
    const account = await accounts.find(email)
    const passwordHash = account?.passwordHash ?? pickUnmatchableHash(email)
    const isCorrect = await queue.run(() => verifyPassword(passwordHash, password))
    return isCorrect ? account : null
  }
}
