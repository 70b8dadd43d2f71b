import type { CookieSerializeOptions } from '@fastify/cookie'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createSigner } from '../config/signer.js'

const TTL_MS = 10 * 60_000

/**
 * Sign-ins whose password was right and that still need a second factor: a signed cookie, which is
 * only sent to the sign-in pages.
 */
export function createPendingSignIns(secrets: readonly [string, ...string[]], isSecure: boolean) {
  const signer = createSigner(secrets, 'pending sign-in v1')
  const name = isSecure ? '__Secure-clearwake-sign-in' : 'clearwake-sign-in'
  const options: CookieSerializeOptions = {
    path: '/admin/login',
    httpOnly: true,
    sameSite: 'strict',
    secure: isSecure,
  }

  return {
    start(reply: FastifyReply, email: string): void {
      const text = Buffer.from(JSON.stringify([email, Date.now() + TTL_MS])).toString('base64url')
      reply.setCookie(name, `${text}.${signer.sign(text)}`, { ...options, maxAge: TTL_MS / 1000 })
    },

    /** Returns the email of the account, or `null`. */
    find({ cookies }: FastifyRequest): string | null {
      const [text = '', signature = ''] = (cookies[name] ?? '').split('.')
      if (!signer.verify(text, signature)) return null
      const [email, expiresAt] = JSON.parse(Buffer.from(text, 'base64url').toString()) as [
        string,
        number,
      ]
      return expiresAt > Date.now() ? email : null
    },

    end: (reply: FastifyReply) => reply.clearCookie(name, options),
  }
}

export type PendingSignIns = ReturnType<typeof createPendingSignIns>
