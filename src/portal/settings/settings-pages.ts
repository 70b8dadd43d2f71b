import type { FastifyPluginAsync } from 'fastify'
import adminPages from '../../plugins/admin-pages.js'
import { SETTINGS_SECTIONS } from './settings-sections.js'

const MAIL = { config: { permission: 'mail:manage' } } as const

const pages: FastifyPluginAsync = async (app) => {
  await app.register(adminPages)
  // Sections have a permission of their own; everyone who has one can read sent emails.
  app.get('/admin/settings', MAIL, async (request, reply) => {
    const section = SETTINGS_SECTIONS.find(({ permission }) => request.can(permission))
    return reply.redirect(section?.href ?? '/admin', 303)
  })
}

export default pages
