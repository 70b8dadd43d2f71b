import { Type } from '@sinclair/typebox'
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import portalScope from '../accounts/portal-scope.js'
import { limit, type ConfigPart, type Values } from '../core/config/config-part.js'
import { Problem } from '../core/http/problem.js'
import bulkRoutes from './bulk-routes.js'
import type { QrCodeListener } from './generate-qr-code.js'
import { logQrCodeRequests } from './qr-code-log.js'
import pages from './qr-code-pages.js'
import routes from './qr-code-routes.js'

declare module '../core/config/config.js' {
  interface Config extends Values<typeof variables> {}
}

const variables = {
  QR_REQUIRE_ADMIN: Type.Boolean({
    default: false,
    description: 'Require a sign-in or an API key to generate QR codes',
  }),
  QR_RATE_LIMIT_PER_MINUTE: limit(600, 'QR codes per client per minute'),
}

/** QR codes. */
export const qrCodeConfig = { variables } satisfies ConfigPart

declare module 'fastify' {
  interface FastifyInstance {
    /** Adds a function that is called with every code that a user or an API key generates. */
    onQrCode(listener: QrCodeListener): void
  }
}

/** Limits the codes per client and minute, across all routes. */
function createCodeCounter(app: FastifyInstance, max: number) {
  const check = app.createRateLimit({ max, timeWindow: '1 minute' })
  return async (request: FastifyRequest, count: number): Promise<void> => {
    const limit = await check(request, { increment: false })
    if (!limit.isAllowed && limit.remaining < count) {
      throw new Problem(
        429,
        `Your address can generate ${max} QR codes per minute, and ${limit.remaining} more now.`,
        { headers: { 'retry-after': String(limit.ttlInSeconds) } },
      )
    }
    for (let i = 0; i < count; i++) await check(request)
  }
}

/** The API and the test page for QR codes, which share a rate limit and a request log. */
const scope: FastifyPluginAsync<{ onGenerated: QrCodeListener }> = async (app, options) => {
  const { QR_RATE_LIMIT_PER_MINUTE: max, QR_REQUIRE_ADMIN } = app.config
  // Before authentication, so that rejected requests count towards the limit.
  app.addHook('onRequest', app.rateLimit({ max, timeWindow: '1 minute' }))
  const countCodes = createCodeCounter(app, max)
  app.addHook('onRequest', (request) => countCodes(request, 1))
  if (QR_REQUIRE_ADMIN) app.addHook('onRequest', app.requireAdministrator)
  logQrCodeRequests(app)
  await app.register(routes, options)
  await app.register(bulkRoutes, { ...options, countCodes })
  await app.register(async (pageScope) => {
    if (QR_REQUIRE_ADMIN) await pageScope.register(portalScope)
    await pageScope.register(pages, options)
  })
}

/** Generates QR codes that fill in a calculator. */
export default fp(
  async (app) => {
    const listeners: QrCodeListener[] = []
    app.decorate('onQrCode', (listener) => void listeners.push(listener))
    app.addNavigation({
      name: 'qr-test',
      href: '/qr-test',
      label: 'QR codes',
      permission: 'qr:write',
      position: 40,
    })
    await app.register(scope, {
      onGenerated: (code) => listeners.forEach((listener) => listener(code)),
    })
  },
  { name: 'qr-code', dependencies: ['prefill', 'auth-guard', 'rate-limits'] },
)
