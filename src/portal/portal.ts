import type { FastifyPluginAsync } from 'fastify'
import type { AccountMail } from '../accounts/account-mail.js'
import type { Eraser } from '../erasure/erase-customer.js'
import type { Fulfilment } from '../fulfilment/fulfilment.js'
import type { Webhooks } from '../integrations/webhooks/webhooks.js'
import type { Mail } from '../mail/mail.js'
import type { ConversionCounter } from '../ordering/conversions.js'
import type { OrderStore } from '../order-store/order-store.js'
import type { ListPricedPortfolios } from '../provider/portfolio-prices.js'
import type { Certificates } from '../ordering/certificate/certificates.js'
import type { Order } from '../orders/order.js'
import type { GetPriceTerms } from '../ordering/price-parts.js'
import type { PaymentStore } from '../payments/payment-store.js'
import type { Payments } from '../payments/payments.js'
import { addFreshnessHeader } from '../orders/freshness-header.js'
import { handleStoreError } from '../orders/store-error-handler.js'
import dashboardPages from './dashboard/pages.js'
import { addFreshnessNotice } from './freshness-notice.js'
import { loadGuestOrderData } from './orders/certificate-section.js'
import fulfilmentPages from './orders/fulfilment-pages.js'
import mailPages from './orders/mail-pages.js'
import listPages from './orders/list-pages.js'
import newOrderPages from './orders/new-order-pages.js'
import orderPages from './orders/order-pages.js'
import refundPages from './orders/refund-pages.js'
import type { SavedViews } from './orders/saved-views.js'
import viewPages from './orders/view-pages.js'
import auditLogPages from './settings/audit-log-pages.js'
import apiKeyPages from './settings/api-key-pages.js'
import emailPages from './settings/email-pages.js'
import eventPages from './settings/event-pages.js'
import peoplePages from './settings/people-pages.js'
import personalDataPages from './settings/personal-data-pages.js'
import settingsPages from './settings/settings-pages.js'
import webhookPages from './settings/webhook-pages.js'

interface Options {
  store: OrderStore
  /** `null` if no provider is configured */
  fulfilment: Fulfilment | null
  listPortfolios: ListPricedPortfolios | null
  getTerms: GetPriceTerms
  webhooks: Webhooks
  certificates: Certificates
  mail: Mail
  accountMail: AccountMail
  /** `null` if guests cannot order */
  conversions: ConversionCounter | null
  paymentStore: PaymentStore
  /** `null` if Stripe is not configured */
  payments: Payments | null
  savedViews: SavedViews
  eraser: Eraser
}

/** The administrators' pages: dashboard, orders and settings. */
const portal: FastifyPluginAsync<Options> = async (app, options) => {
  const { store, fulfilment, webhooks, certificates, mail, conversions } = options
  const { listPortfolios, getTerms, savedViews } = options
  const payments = { store: options.paymentStore, service: options.payments }
  addFreshnessHeader(app, store)
  addFreshnessNotice(app, store)
  app.setErrorHandler(handleStoreError)
  await app.register(dashboardPages, {
    store,
    hasProvider: fulfilment !== null,
    webhooks,
    mail,
    conversions,
  })
  await app.register(listPages, { store, savedViews, payments, certificates, mail })
  await app.register(viewPages, { savedViews })
  await app.register(newOrderPages, { store, listPortfolios, getTerms })
  const loadGuestOrder = (order: Order) => loadGuestOrderData(app.database, certificates, order)
  await app.register(orderPages, { store, fulfilment, mail, loadGuestOrder, payments })
  await app.register(refundPages, { store, fulfilment, mail, loadGuestOrder, payments })
  await app.register(mailPages, { store, mail })
  if (fulfilment) {
    await app.register(fulfilmentPages, { store, fulfilment, mail, loadGuestOrder, payments })
  }
  await app.register(settingsPages)
  await app.register(peoplePages, { mail: options.accountMail })
  await app.register(apiKeyPages)
  await app.register(webhookPages, { webhooks })
  await app.register(emailPages, { mail })
  await app.register(eventPages)
  await app.register(auditLogPages)
  await app.register(personalDataPages, { store, eraser: options.eraser })
}

export default portal
