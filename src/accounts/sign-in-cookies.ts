import { createHmac, randomBytes } from 'node:crypto'
import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createSigner, deriveKey, timingSafeEqualText } from '../core/config/secrets.js'
import { DAY_MS, MINUTE_MS } from '../core/time.js'
import { isEmail } from '../core/validation/email-address.js'
import type { Account } from './account-store.js'

const PENDING_MS = 10 * MINUTE_MS

/**
 * Sign-ins with a correct password that still need a second factor. Each is stored in a signed
 * cookie, which is sent only to the sign-in pages and becomes invalid when the password changes.
 */
export function createPendingSignIns(
  app: Pick<FastifyInstance, 'accounts' | 'config' | 'publicBaseUrl'>,
) {
  const signer = createSigner(app.config.sessionSecrets, 'pending sign-in v1')
  const secure = app.publicBaseUrl().startsWith('https:')
  const name = secure ? '__Secure-clearwake-sign-in' : 'clearwake-sign-in'
  const options: CookieSerializeOptions = {
    path: '/admin/login',
    httpOnly: true,
    sameSite: 'strict',
    secure,
  }
  const toSigned = ({ email, passwordHash }: Account, expiresAt: string): string =>
    JSON.stringify([email, passwordHash, expiresAt])

  return {
    start(reply: FastifyReply, account: Account): void {
      const expiresAt = String(Date.now() + PENDING_MS)
      const email = Buffer.from(account.email).toString('base64url')
      const value = `${email}.${expiresAt}.${signer.sign(toSigned(account, expiresAt))}`
      reply.setCookie(name, value, { ...options, maxAge: PENDING_MS / 1000 })
    },

    /** Returns the account of a pending sign-in, or `null`. Throws DatabaseUnavailableError. */
    async find({ cookies }: FastifyRequest): Promise<Account | null> {
      const [encoded = '', expiresAt = '', signature = ''] = (cookies[name] ?? '').split('.')
      const email = Buffer.from(encoded, 'base64url').toString()
      if (!isEmail(email) || !(Number(expiresAt) > Date.now())) return null
      const account = await app.accounts.find(email)
      return account && signer.verify(toSigned(account, expiresAt), signature) ? account : null
    },

    end: (reply: FastifyReply) => reply.clearCookie(name, options),
  }
}

export type PendingSignIns = ReturnType<typeof createPendingSignIns>

const DEVICE_DAYS = 365

/**
 * Device cookies: they mark browsers in which an account has signed in, so that strangers cannot
 * lock its owner out (OWASP, “Slow Down Online Guessing Attacks with Device Cookies”). A token
 * grants no access.
 */
export function createDeviceTokens(secret: string) {
  const key = deriveKey(secret, 'known device v1')
  const sign = (id: string, expires: string, email: string): string =>
    createHmac('sha256', key).update([id, expires, email].join('\n')).digest('base64url')

  return {
    /** Creates a token for a browser in which an account has just signed in. */
    issue(email: string): { token: string; expires: Date } {
      const id = randomBytes(16).toString('base64url')
      const expires = new Date(Date.now() + DEVICE_DAYS * DAY_MS)
      const time = String(expires.getTime())
      return { token: [id, time, sign(id, time, email)].join('.'), expires }
    },

    /** Returns the device ID of a valid token of this account, or `null`. */
    verify(token: string, email: string): string | null {
      const [id = '', expires = '', given = ''] = token.split('.')
      const isValid = timingSafeEqualText(given, sign(id, expires, email))
      return isValid && Number(expires) > Date.now() ? id : null
    },
  }
}

export type DeviceTokens = ReturnType<typeof createDeviceTokens>

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

/** Session tokens: JWTs that carry a session's secret, signed with the settings of @fastify/jwt. */
export function createSessionTokens(
  { jwt, accounts }: Pick<FastifyInstance, 'jwt' | 'accounts'>,
  secret: string,
) {
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
    issue: (account: Account, session: { secret: string; expiresAt: number }): string =>
      jwt.sign({
        sub: account.email,
        jti: session.secret,
        mark: getPasswordMark(account),
        exp: session.expiresAt / 1000,
      }),

    /**
     * Returns the account and the session secret in a token; `null` if the token is invalid or
     * expired, or if the password has changed.
     */
    async verify(token: string): Promise<{ account: Account; secret: string } | null> {
      const claims = verifyClaims(token)
      const account = claims && (await accounts.find(claims.sub))
      if (!account || !timingSafeEqualText(claims.mark, getPasswordMark(account))) return null
      return { account, secret: claims.jti }
    },
  }
}
