import type { FastifyPluginAsync } from 'fastify'
import pages from './pages.js'
import type { PrefillLinks } from './prefill-link.js'
import { logQrCodes } from './qr-code-log.js'
import routes from './routes.js'

/** QR codes: the API, the test page, and a log entry for each code asked for. */
const qrCode: FastifyPluginAsync<{ links: PrefillLinks }> = async (app, options) => {
  logQrCodes(app)
  await app.register(routes, options)
  await app.register(pages, options)
}

export default qrCode
