import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { addFreshnessHeader } from '../orders/freshness-header.js'
import adminPages from '../accounts/admin-pages.js'
import dashboardPages from '../dashboard/pages.js'
import { addFreshnessNotice } from './orders/freshness-notice.js'
import fulfilmentPages from './orders/fulfilment-pages.js'
import listPages from './orders/list-pages.js'
import mailPages from './orders/mail-pages.js'
import newOrderPages from './orders/new-order-pages.js'
import orderPages from './orders/order-pages.js'
import refundPages from './orders/refund-pages.js'
import { createSavedViews, type SavedViews } from './orders/saved-views.js'
import viewPages from './orders/view-pages.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Order lists that users have saved */
    savedViews: SavedViews
  }
}

/** The pages of orders and the dashboard, and those that features have added. */
async function pages(app: FastifyInstance): Promise<void> {
  const { orders, fulfilment, portalPages } = app
  addFreshnessHeader(app, orders)
  addFreshnessNotice(app, orders)
  await app.register(adminPages)
  for (const added of portalPages) await app.register(added)
  await app.register(dashboardPages)
  await app.register(listPages)
  await app.register(viewPages)
  await app.register(newOrderPages)
  await app.register(orderPages)
  await app.register(refundPages)
  await app.register(mailPages)
  if (fulfilment) await app.register(fulfilmentPages, { fulfilment })
}

export default fp(
  async (app) => {
    const savedViews = createSavedViews(app.database)
    app.decorate('savedViews', savedViews)
    app.eraser.add({ removeTexts: savedViews.removeSearches })
    await app.register(pages)
  },
  { name: 'portal', dependencies: ['fulfilment', 'webhooks', 'mail', 'erasure', 'session'] },
)
