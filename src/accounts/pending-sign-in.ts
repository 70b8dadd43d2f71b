import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createSigner } from '../core/config/signer.js'
import { isEmail } from '../core/validation/email-address.js'
import type { Account } from './account-store.js'

const TTL_MS = 10 * 60_000

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
      const expiresAt = String(Date.now() + TTL_MS)
      const email = Buffer.from(account.email).toString('base64url')
      const value = `${email}.${expiresAt}.${signer.sign(toSigned(account, expiresAt))}`
      reply.setCookie(name, value, { ...options, maxAge: TTL_MS / 1000 })
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
