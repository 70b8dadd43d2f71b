import type { FastifyPluginAsync } from 'fastify'
import adminPages from '../plugins/admin-pages.js'
import pages from './pages.js'
import type { PrefillLinks } from './prefill-link.js'
import { createQrCodeLog } from './qr-code-log.js'
import routes from './routes.js'

/** QR codes: the API, the test page, their common limit, and a log entry for each code asked for. */
const qrCode: FastifyPluginAsync<{ links: PrefillLinks }> = async (app, options) => {
  const { QR_RATE_LIMIT_PER_MINUTE: max, QR_REQUIRE_ADMIN } = app.config
  // The limit first, so that who is refused is counted too.
  app.addHook('onRequest', app.rateLimit({ max, timeWindow: '1 minute' }))
  if (QR_REQUIRE_ADMIN) app.addHook('onRequest', app.requireAdministrator)
  createQrCodeLog(app)
  await app.register(routes, options)
  await app.register(async (scope) => {
    if (QR_REQUIRE_ADMIN) await scope.register(adminPages)
    await scope.register(pages, options)
  })
}

export default qrCode
