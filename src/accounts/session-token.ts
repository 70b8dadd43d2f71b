import { createHmac, randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { deriveKey } from '../config/derive-key.js'
import { timingSafeEqualText } from '../http/timing-safe-equal.js'
import type { AdminAccount } from '../config/admin-accounts.js'

/** A signed-in administrator. */
export interface AdminSession {
  id: string
  email: string
  expiresAt: Date
}

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: { sub: string; jti: string; mark: string }
  }
}

interface Claims {
  sub: string
  jti: string
  mark: string
  /** Unix time, seconds */
  exp: number
}

/** Lifetime of a session. */
export const SESSION_SECONDS = 8 * 60 * 60

/** A token with more time left was issued while the clock was ahead; it is rejected. */
const MAX_REMAINING_MS = 2 * SESSION_SECONDS * 1000

export interface SessionTokens {
  issue(account: AdminAccount): string
  /** Returns the session of a valid token; `null` if it is invalid, expired, or its account changed. */
  verify(token: string): AdminSession | null
}

/** Session tokens: JWTs signed with the settings of @fastify/jwt. */
export function createSessionTokens(
  { jwt, findAccount }: Pick<FastifyInstance, 'jwt' | 'findAccount'>,
  secret: string,
): SessionTokens {
  const key = deriveKey(secret, 'password mark v1')
  // The mark changes with the password, so a new password ends earlier sessions.
  const getPasswordMark = ({ passwordHash }: AdminAccount): string =>
    createHmac('sha256', key).update(passwordHash).digest('base64url').slice(0, 22)

  function verifyClaims(token: string): Claims | null {
    try {
      return jwt.verify<Claims>(token)
    } catch {
      return null
    }
  }

  return {
    issue: (account) =>
      jwt.sign({ sub: account.email, jti: randomUUID(), mark: getPasswordMark(account) }),
    verify(token) {
      const claims = verifyClaims(token)
      const account = claims && findAccount(claims.sub)
      if (!account || !timingSafeEqualText(claims.mark, getPasswordMark(account))) return null
      const expiresAt = new Date(claims.exp * 1000)
      if (expiresAt.getTime() - Date.now() > MAX_REMAINING_MS) return null
      return { id: claims.jti, email: account.email, expiresAt }
    },
  }
}
