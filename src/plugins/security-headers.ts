import { randomBytes } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { isApiPath } from '../http/request-path.js'

declare module 'fastify' {
  interface FastifyReply {
    /** Lets style elements of this page apply that carry the nonce answered, new for each page. */
    styleNonce(): string
  }
}

const policy = (directives: Record<string, string>): string =>
  Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')

/** Everything comes from here; no inline scripts or styles, no eval; pictures may be data URLs (QR codes). */
const PAGE_DIRECTIVES = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': "'self' data:",
  'connect-src': "'self'",
  'manifest-src': "'self'",
  'form-action': "'self'",
  'base-uri': "'none'",
  'frame-ancestors': "'none'",
}
const PAGE_POLICY = policy(PAGE_DIRECTIVES)

/** What an answer that is no page may load: nothing. */
export const API_POLICY = policy({ 'default-src': "'none'", 'frame-ancestors': "'none'" })

const COMMON = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // A pre-filled address must not travel to another site in a Referer.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const NONCE_BYTES = 16

function styleNonce(this: FastifyReply): string {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url')
  const styles = `${PAGE_DIRECTIVES['style-src']} 'nonce-${nonce}'`
  this.header('content-security-policy', policy({ ...PAGE_DIRECTIVES, 'style-src': styles }))
  return nonce
}

const YEAR_SECONDS = 365 * 24 * 60 * 60

/**
 * Security headers on every answer. The lists are fixed, so they are made once and set by one
 * hook: computing them anew for each request costs more than most of our answers do.
 */
export default fp(
  async (app) => {
    const transport = app.publicBaseUrl().startsWith('https:')
      ? { 'strict-transport-security': `max-age=${YEAR_SECONDS}` }
      : {}
    const api = {
      ...COMMON,
      ...transport,
      'content-security-policy': API_POLICY,
      'cache-control': 'no-store',
    }
    const page = {
      ...COMMON,
      ...transport,
      'content-security-policy': PAGE_POLICY,
      'cache-control': 'private, no-cache',
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    }
    app.addHook('onRequest', (request, reply, done) => {
      reply.headers(isApiPath(request.url) ? api : page)
      done()
    })
    app.decorateReply('styleNonce', styleNonce)
  },
  { name: 'security', dependencies: ['config'] },
)
