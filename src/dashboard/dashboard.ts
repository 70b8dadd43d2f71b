import type { FastifyPluginAsync } from 'fastify'
import fp from 'fastify-plugin'
import pages from './pages.js'

/** The dashboard of the portal. */
const dashboard: FastifyPluginAsync = async (app) => {
  app.portalPages.push(pages)
  app.addNavigation({
    name: 'dashboard',
    href: '/admin',
    label: 'Dashboard',
    permission: null,
    position: 10,
  })
}

export default fp(dashboard, {
  name: 'dashboard',
  dependencies: ['webhooks', 'order-mail', 'fulfilment', 'payments', 'certificates'],
})
