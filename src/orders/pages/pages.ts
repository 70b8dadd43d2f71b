import fp from 'fastify-plugin'
import { addFreshnessHeader, addFreshnessNotice } from '../freshness.js'
import bulkPages from './bulk-pages.js'
import listPages from './list-pages.js'
import orderPages from './order-pages.js'
import { createOrderPage, type OrderPage } from './order-presenter.js'
import { createSavedViews, type SavedViews } from './saved-views.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** The pages of orders, to which features add sections */
    orderPage: OrderPage
    /** Order lists that users have saved */
    savedViews: SavedViews
  }
}

/** The portal's pages of orders. */
export default fp(
  async (app) => {
    const savedViews = createSavedViews(app.database)
    app.decorate('savedViews', savedViews)
    app.decorate('orderPage', createOrderPage(app))
    app.eraser.add({ removeTexts: savedViews.removeSearches })
    // First, so that all pages of the portal say how old their data is.
    app.portalPages.unshift(
      fp(async (scope) => {
        addFreshnessHeader(scope)
        addFreshnessNotice(scope)
      }),
    )
    app.portalPages.push(listPages, bulkPages, orderPages)
    app.addNavigation({
      name: 'orders',
      href: '/admin/orders',
      label: 'Orders',
      permission: null,
      position: 20,
    })
  },
  { name: 'order-pages', dependencies: ['orders', 'erasure', 'portal-extensions'] },
)
