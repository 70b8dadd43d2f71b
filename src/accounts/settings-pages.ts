import type { FastifyPluginAsync } from 'fastify'

const MAIL = { config: { permission: 'mail:manage' } } as const

/** Redirects to the first page of the settings. */
const pages: FastifyPluginAsync = async (app) => {
  // Each page has its own permission; every role that has one of them also has `mail:manage`.
  app.get('/admin/settings', MAIL, async (request, reply) => {
    const [first] = app.settings.list(request)
    return reply.redirect(first?.href ?? '/admin', 303)
  })
}

export default pages
