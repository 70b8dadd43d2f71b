import type { FastifyPluginAsync } from 'fastify'
import adminPages from '../../plugins/admin-pages.js'
import { SETTINGS_SECTIONS } from './settings-sections.js'

const MAIL = { config: { permission: 'mail:manage' } } as const

const pages: FastifyPluginAsync = async (app) => {
  await app.register(adminPages)
  // Each section has its own permission; every role that has one of them also has `mail:manage`.
  app.get('/admin/settings', MAIL, async (request, reply) => {
    const section = SETTINGS_SECTIONS.find(({ permission }) => request.can(permission))
    return reply.redirect(section?.href ?? '/admin', 303)
  })
}

export default pages
