import type { FastifyPluginAsync } from 'fastify'
import adminPages from '../../plugins/admin-pages.js'
import { SETTINGS_SECTIONS } from './settings-sections.js'

const pages: FastifyPluginAsync = async (app) => {
  await app.register(adminPages)
  app.get('/admin/settings', async (_request, reply) =>
    reply.redirect(SETTINGS_SECTIONS[0].href, 303),
  )
}

export default pages
