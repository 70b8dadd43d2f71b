import type { FastifyInstance } from 'fastify'
import type { AdminAccount } from '../config/admin-accounts.js'
import { createUnmatchableHash, verifyPassword } from './password.js'
import { createPasswordHashQueue } from './password-hash-queue.js'
import type { HashIdentifier } from './hashed-identifier.js'

/** Returns the account that an email and a password belong to, or `null`. */
export type PasswordCheck = (email: string, password: string) => Promise<AdminAccount | null>

/**
 * Checks passwords. An unknown email takes as long as a known one: its password is verified
 * against an unmatchable hash with the cost parameters of a real account.
 */
export function createPasswordCheck(
  { accounts, findAccount }: Pick<FastifyInstance, 'accounts' | 'findAccount'>,
  hashIdentifier: HashIdentifier,
): PasswordCheck {
  const queue = createPasswordHashQueue()
  const unmatchable = accounts.map(({ passwordHash }) => createUnmatchableHash(passwordHash))

  // The same email always picks the same hash, so its timing does not vary either.
  function pickUnmatchableHash(email: string): string {
    const index = Buffer.from(hashIdentifier('nothing', email), 'base64url').readUInt32BE()
    return unmatchable[index % unmatchable.length] ?? ''
  }

  return async (email, password) => {
    const account = findAccount(email)
    const passwordHash = account?.passwordHash ?? pickUnmatchableHash(email)
    const isCorrect = await queue.run(() => verifyPassword(passwordHash, password))
    return account && isCorrect ? account : null
  }
}
