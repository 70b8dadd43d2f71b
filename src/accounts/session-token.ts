import { createHmac, randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { deriveKey } from '../config/derive-key.js'
import { timingSafeEqualText } from '../http/timing-safe-equal.js'
import type { AdminAccount } from '../config/admin-accounts.js'

/** A time for which an administrator is logged in. */
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
  /** Seconds since 1970 */
  exp: number
}

/** How long a session lasts. */
export const SESSION_SECONDS = 8 * 60 * 60

/** More than a session lasts: the clock was ahead when it was issued, by so much that it is not taken. */
const LONGEST_LEFT_MS = 2 * SESSION_SECONDS * 1000

export interface SessionTokens {
  issue(account: AdminAccount): string
  /** The session of a token; `null` where it is none of ours, is not of this time, or its account changed */
  read(token: string): AdminSession | null
}

/** Makes and reads the tokens of sessions: JWTs under the settings of @fastify/jwt. */
export function createSessionTokens(
  { jwt, accountOf }: Pick<FastifyInstance, 'jwt' | 'accountOf'>,
  secret: string,
): SessionTokens {
  const key = deriveKey(secret, 'password mark v1')
  // Another password is another mark, so that changing it ends the sessions before.
  const markOf = ({ passwordHash }: AdminAccount): string =>
    createHmac('sha256', key).update(passwordHash).digest('base64url').slice(0, 22)

  function claimsOf(token: string): Claims | null {
    try {
      return jwt.verify<Claims>(token)
    } catch {
      return null
    }
  }

  return {
    issue: (account) => jwt.sign({ sub: account.email, jti: randomUUID(), mark: markOf(account) }),
    read(token) {
      const claims = claimsOf(token)
      const account = claims && accountOf(claims.sub)
      if (!account || !timingSafeEqualText(claims.mark, markOf(account))) return null
      const expiresAt = new Date(claims.exp * 1000)
      if (expiresAt.getTime() - Date.now() > LONGEST_LEFT_MS) return null
      return { id: claims.jti, email: account.email, expiresAt }
    },
  }
}
