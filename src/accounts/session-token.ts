import { createHmac } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Account } from './account-store.js'
import { deriveKey } from '../core/config/derive-key.js'
import { timingSafeEqualText } from '../core/http/timing-safe-equal.js'

interface Claims {
  /** Email of the account */
  sub: string
  /** Secret of the session */
  jti: string
  /** Changes with the password */
  mark: string
  /** Unix time, seconds */
  exp: number
}

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: Claims
  }
}

export interface SessionTokens {
  issue(account: Account, session: { secret: string; expiresAt: number }): string
  /**
   * Returns the account and the session secret in a token; `null` if the token is invalid or
   * expired, or if the password has changed.
   */
  verify(token: string): Promise<{ account: Account; secret: string } | null>
}

/** Session tokens: JWTs that carry a session's secret, signed with the settings of @fastify/jwt. */
export function createSessionTokens(
  { jwt, accounts }: Pick<FastifyInstance, 'jwt' | 'accounts'>,
  secret: string,
): SessionTokens {
  const key = deriveKey(secret, 'password mark v1')
  // The mark changes with the password, so a new password ends all earlier sessions.
  const getPasswordMark = ({ passwordHash }: Account): string =>
    createHmac('sha256', key).update(passwordHash).digest('base64url').slice(0, 22)

  function verifyClaims(token: string): Claims | null {
    try {
      return jwt.verify<Claims>(token)
    } catch {
      return null
    }
  }

  return {
    issue: (account, session) =>
      jwt.sign({
        sub: account.email,
        jti: session.secret,
        mark: getPasswordMark(account),
        exp: session.expiresAt / 1000,
      }),
    async verify(token) {
      const claims = verifyClaims(token)
      const account = claims && (await accounts.find(claims.sub))
      if (!account || !timingSafeEqualText(claims.mark, getPasswordMark(account))) return null
      return { account, secret: claims.jti }
    },
  }
}
