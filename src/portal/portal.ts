import type { FastifyInstance } from 'fastify'
import fp from 'fastify-plugin'
import { addFreshnessHeader } from '../orders/freshness-header.js'
import { handleStoreError } from '../orders/store-error-handler.js'
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
import apiKeyPages from '../accounts/api-keys/pages.js'
import auditLogPages from '../audit/pages.js'
import emailPages from '../checkout/mail/pages.js'
import eventPages from '../orders/events/pages.js'
import peoplePages from '../accounts/people-pages.js'
import personalDataPages from '../orders/erasure/pages.js'
import settingsPages from '../accounts/settings-pages.js'
import webhookPages from '../webhooks/pages.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Order lists that users have saved */
    savedViews: SavedViews
  }
}

/** The administrators' pages: dashboard, orders and settings. */
async function pages(app: FastifyInstance): Promise<void> {
  const { orders, fulfilment } = app
  addFreshnessHeader(app, orders)
  addFreshnessNotice(app, orders)
  app.setErrorHandler(handleStoreError)
  await app.register(dashboardPages)
  await app.register(listPages)
  await app.register(viewPages)
  await app.register(newOrderPages)
  await app.register(orderPages)
  await app.register(refundPages)
  await app.register(mailPages)
  if (fulfilment) await app.register(fulfilmentPages, { fulfilment })
  await app.register(settingsPages)
  await app.register(peoplePages)
  await app.register(apiKeyPages)
  await app.register(webhookPages)
  await app.register(emailPages)
  await app.register(eventPages)
  await app.register(auditLogPages)
  await app.register(personalDataPages)
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
