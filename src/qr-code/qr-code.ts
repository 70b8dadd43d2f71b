import type { FastifyPluginAsync } from 'fastify'
import adminPages from '../plugins/admin-pages.js'
import bulkRoutes from './bulk-routes.js'
import pages from './pages.js'
import type { QrCodeOptions } from './qr-code-options.js'
import { logQrCodeRequests } from './qr-code-log.js'
import routes from './routes.js'

/** The API and the test page for QR codes, which share a rate limit and a request log. */
const qrCode: FastifyPluginAsync<QrCodeOptions> = async (app, options) => {
  const { QR_RATE_LIMIT_PER_MINUTE: max, QR_REQUIRE_ADMIN } = app.config
  // Before authentication, so that rejected requests count towards the limit.
  app.addHook('onRequest', app.rateLimit({ max, timeWindow: '1 minute' }))
  if (QR_REQUIRE_ADMIN) app.addHook('onRequest', app.requireAdministrator)
  logQrCodeRequests(app)
  await app.register(routes, options)
  await app.register(bulkRoutes, options)
  await app.register(async (scope) => {
    if (QR_REQUIRE_ADMIN) await scope.register(adminPages)
    await scope.register(pages, options)
  })
}

export default qrCode
