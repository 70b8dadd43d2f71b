import { randomBytes } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import { isApiPath } from '../http/request-path.js'

declare module 'fastify' {
  interface FastifyReply {
    /** Allows style elements with the returned nonce on this page. */
    createStyleNonce(): string
    /** Lets forms on this page redirect to an origin: `form-action` also applies to redirects. */
    allowFormsTo(origin: string): void
  }
}

const formatPolicy = (directives: Record<string, string>): string =>
  Object.entries(directives)
    .map(([name, value]) => `${name} ${value}`)
    .join('; ')

/** Same origin only; no inline scripts or styles, no eval; images may be data URLs (QR codes). */
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
const PAGE_POLICY = formatPolicy(PAGE_DIRECTIVES)

/** Responses that are not pages may load nothing. */
export const API_POLICY = formatPolicy({ 'default-src': "'none'", 'frame-ancestors': "'none'" })

const COMMON = {
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // A pre-fill link must not reach another site in a Referer header.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const NONCE_BYTES = 16

/** Allows another source for a directive on a page. */
function allow(reply: FastifyReply, directive: keyof typeof PAGE_DIRECTIVES, source: string): void {
  const sources = `${PAGE_DIRECTIVES[directive]} ${source}`
  reply.header(
    'content-security-policy',
    formatPolicy({ ...PAGE_DIRECTIVES, [directive]: sources }),
  )
}

function createStyleNonce(this: FastifyReply): string {
  const nonce = randomBytes(NONCE_BYTES).toString('base64url')
  allow(this, 'style-src', `'nonce-${nonce}'`)
  return nonce
}

function allowFormsTo(this: FastifyReply, origin: string): void {
  allow(this, 'form-action', origin)
}

const YEAR_SECONDS = 365 * 24 * 60 * 60

/** Sets security headers on every response. They are constant, so they are computed once. */
export default fp(
  async (app) => {
    const hsts = app.publicBaseUrl().startsWith('https:')
      ? { 'strict-transport-security': `max-age=${YEAR_SECONDS}` }
      : {}
    const api = {
      ...COMMON,
      ...hsts,
      'content-security-policy': API_POLICY,
      'cache-control': 'no-store',
    }
    const page = {
      ...COMMON,
      ...hsts,
      'content-security-policy': PAGE_POLICY,
      'cache-control': 'private, no-cache',
      'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=()',
    }
    app.addHook('onRequest', (request, reply, done) => {
      reply.headers(isApiPath(request.url) ? api : page)
      done()
    })
    app.decorateReply('createStyleNonce', createStyleNonce)
    app.decorateReply('allowFormsTo', allowFormsTo)
  },
  { name: 'security-headers', dependencies: ['config'] },
)
