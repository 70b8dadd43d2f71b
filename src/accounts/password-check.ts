import type { FastifyInstance } from 'fastify'
import type { AdminAccount } from '../config/admin-accounts.js'
import { unmatchableHash, verifyPassword } from './password.js'
import { createPasswordHashQueue } from './password-hash-queue.js'
import type { HashIdentifier } from './hashed-identifier.js'

/** The account that an e-mail address and a password belong to; `null` for none. */
export type PasswordCheck = (email: string, password: string) => Promise<AdminAccount | null>

/**
 * Checks passwords, as slowly for an unknown e-mail address as for an account's: against a hash
 * of nothing that costs what one of the accounts' does, the same one every time.
 */
export function createPasswordCheck(
  { accounts, accountOf }: Pick<FastifyInstance, 'accounts' | 'accountOf'>,
  pseudonym: HashIdentifier,
): PasswordCheck {
  const queue = createPasswordHashQueue()
  const nothing = accounts.map(({ passwordHash }) => unmatchableHash(passwordHash))

  function hashFor(email: string): string {
    const pick = Buffer.from(pseudonym('nothing', email), 'base64url').readUInt32BE()
    return nothing[pick % nothing.length] ?? ''
  }

  return async (email, password) => {
    const account = accountOf(email)
    const passwordHash = account?.passwordHash ?? hashFor(email)
    const isRight = await queue.run(() => verifyPassword(passwordHash, password))
    return account && isRight ? account : null
  }
}
