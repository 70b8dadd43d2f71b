import { hkdfSync } from 'node:crypto'
import cookie from '@fastify/cookie'
import jwt from '@fastify/jwt'
import type { onRequestAsyncHookHandler } from 'fastify'
import fp from 'fastify-plugin'
import { Problem } from './problem.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** An `onRequest` hook that lets only administrators pass; 401 for everybody else. */
    requireAdministrator: onRequestAsyncHookHandler
  }
  interface FastifyRequest {
    readonly administrator: { email: string }
  }
}

const ISSUER = 'clearwake'

/** Who is an administrator: a JWT in a cookie of ours, or as a bearer token. */
export default fp(
  async (app) => {
    const secure = app.publicBaseUrl().startsWith('https:')
    const key = hkdfSync('sha256', app.config.sessionSecrets[0], '', 'clearwake session v1', 32)
    await app.register(cookie)
    await app.register(jwt, {
      secret: Buffer.from(key),
      cookie: { cookieName: secure ? '__Host-clearwake' : 'clearwake', signed: false },
      sign: { algorithm: 'HS256', expiresIn: 8 * 60 * 60, iss: ISSUER },
      verify: { algorithms: ['HS256'], allowedIss: ISSUER, requiredClaims: ['iss', 'sub', 'exp'] },
    })
    app.decorateRequest('administrator', {
      getter() {
        return { email: (this.user as { sub: string } | undefined)?.sub ?? 'nobody' }
      },
    })
    app.decorate('requireAdministrator', async (request) => {
      try {
        await request.jwtVerify()
      } catch {
        throw new Problem(401, 'Only administrators may do this: log in first.', {
          headers: { 'www-authenticate': 'Bearer' },
        })
      }
    })
  },
  { name: 'session', dependencies: ['config', 'errors'] },
)
