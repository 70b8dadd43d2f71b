import type { FastifyPluginAsync } from 'fastify'
import adminPages from './admin-pages.js'

/** Registers the pages that features have added to the portal, in one scope. */
const portalPages: FastifyPluginAsync = async (app) => {
  await app.register(adminPages)
  for (const pages of app.portalPages) await app.register(pages)
}

export default portalPages
